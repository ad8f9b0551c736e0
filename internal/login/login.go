// Package login is the one authentication in front of the listener. There are two ways to be the owner: the
// token (the content of state/token, for programs) and a page session (a cookie, for browsers), which a one-use
// link is swapped for. Being on the same machine is no way. It also refuses requests that a foreign web page, or
// a foreign name that resolves to this machine, could have made.
//
// It promises: no secret stays in a URL, none is compared in a time that tells anything, and none is kept: of a
// session only a keyed hash is, so that the database opens nothing, and another token ends every session.
package login

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"familiar/internal/secret"
	"familiar/internal/sqlite"
)

const (
	linkLife    = 5 * time.Minute
	sessionLife = 30 * 24 * time.Hour
)

// Options is what a Login needs of its host.
type Options struct {
	Instance string       // the bot's id; the cookie is named after it, so that bots on one machine do not meet
	Token    secret.Value // the content of state/token; it must be set
	Log      *slog.Logger
	Now      func() time.Time // nil: the clock

	Host           string   // server.host: the address that is listened on
	PublicBaseURL  string   // server.publicBaseUrl; https makes the cookie Secure
	AllowedHosts   []string // server.allowedHosts: further names, with or without a port
	TrustedProxies []string // server.trustedProxies: whose X-Forwarded-For is believed when failures are counted
}

// Login lets the owner in. Make one with Open. Safe for concurrent use.
type Login struct {
	token    secret.Value
	log      *slog.Logger
	now      func() time.Time
	cookie   string
	secure   bool
	names    names
	proxies  []netip.Prefix
	links    links
	sessions sessions
	failures failures
}

// Open reads the page sessions that are alive. It is an error to have no token.
func Open(ctx context.Context, db *sqlite.DB, o Options) (*Login, error) {
	if !o.Token.Set() {
		return nil, fmt.Errorf("prepare the login: there is no token; remove state/token so that a new one is made")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Login{token: o.Token, log: o.Log, now: o.Now, cookie: cookieName(o.Instance), names: newNames(o),
		secure: strings.HasPrefix(strings.ToLower(o.PublicBaseURL), "https://"), sessions: sessions{db: db}}
	for _, text := range o.TrustedProxies {
		if p, err := network(text); err == nil {
			l.proxies = append(l.proxies, p)
		}
	}
	if err := l.sessions.load(ctx, l.now()); err != nil {
		return nil, fmt.Errorf("prepare the login: %w", err)
	}
	return l, nil
}

// network reads "10.0.0.0/8" or a single address.
func network(text string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p, nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return a.Prefix(a.BitLen())
}

// cookieName keeps to the characters that a cookie's name may have.
func cookieName(instance string) string {
	return "familiar_" + strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, instance)
}

// Link mints a login link: a path with a query, to be put behind the address of the listener. It lets one browser
// in, once, within five minutes. Whoever reads it is the owner: show it to the owner alone, and never log it.
func (l *Login) Link() string {
	id := mint()
	l.links.add(l.hash(id), l.now().Add(linkLife))
	return "/?" + linkParam + "=" + id
}

// mint makes a random id, 32 bytes as hex.
func mint() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(raw[:])
}

// key is a hash of a secret id. Looking it up takes a time that says nothing about the id.
type key [sha256.Size]byte

// hash is keyed with the token: whoever holds the database cannot make a session, and a new token ends them all.
func (l *Login) hash(id string) key {
	mac := hmac.New(sha256.New, []byte(l.token.Reveal()))
	mac.Write([]byte(id))
	return key(mac.Sum(nil))
}
