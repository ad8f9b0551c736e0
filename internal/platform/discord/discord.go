// Package discord is a bot account on Discord. It translates: what the gateway dispatches becomes events, actions become
// calls of the REST API; whether a person may be heard is decided elsewhere. Calls go through the REST client of the
// library disgo. The connection to the gateway is our own, so that one place alone reconnects (platform.Keep) and nothing
// outlives Run.
package discord

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/url"
	"strings"
	"sync"

	"github.com/disgoorg/disgo/rest"

	"familiar/internal/chat"
	"familiar/internal/egress"
	"familiar/internal/kv"
	"familiar/internal/platform"
)

// Name is the platform's word in places, files and metrics.
const Name = "discord"

// maxText is the longest text of one message, in code points.
const maxText = 2000

// Deps is what the platform needs of its host.
type Deps struct {
	Log *slog.Logger
	// Version is of the build, as Discord is told it; may be empty.
	Version string
	// Store remembers where we were spoken to, so that a restart misses nothing there; nil remembers nothing.
	Store kv.Store
}

// Discord is the platform. Safe for concurrent use.
type Discord struct {
	cfg   Config
	log   *slog.Logger
	rest  rest.Client
	files *egress.Client
	store kv.Store
	known known

	authors authors
	waiting waiting
	resume  session // of the connection before; only Run touches it
}

var (
	_ platform.Platform  = (*Discord)(nil)
	_ platform.Historian = (*Discord)(nil)
	_ platform.Fetcher   = (*Discord)(nil)
	_ platform.Guide     = (*Discord)(nil)
)

// New makes the platform. cfg was checked. Nothing is sent before Run or Do.
func New(cfg Config, deps Deps) *Discord {
	d := &Discord{cfg: cfg, log: deps.Log, rest: newREST(cfg, deps.Version), files: newFetcher(cfg), store: deps.Store}
	d.known = known{us: idOf(cfg.Token.Reveal()), guilds: map[string]guild{}, direct: map[string]string{},
		tags: map[string]string{}, cleaned: map[string]bool{}}
	return d
}

// Name returns "discord".
func (d *Discord) Name() string { return Name }

// Abilities says what Discord can take. Length is counted in code points (discord/discord-api-docs, issue 1315).
func (d *Discord) Abilities() chat.Abilities {
	return chat.Abilities{MaxText: maxText, Unit: chat.Runes, Edit: true, Delete: true, React: true,
		Typing: d.cfg.TypingIndicator.Enabled, Files: true, Idempotent: true, Remembers: nonceTime, Search: true}
}

// known is what was learned of the network. Its mutex guards everything.
type known struct {
	mu      sync.Mutex
	us      string            // our own id, by the token; Discord tells it too
	self    chat.Person       // ourselves, once connected
	guilds  map[string]guild  // the servers that we are in
	direct  map[string]string // the channel of each person who was spoken to alone
	tags    map[string]string // of stickers
	own     ownEmojis
	cleaned map[string]bool // the servers whose leftover commands were removed
}

// learn runs do while nobody else looks.
func (k *known) learn(do func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	do()
}

// isUs says whether an id is our own.
func (d *Discord) isUs(id string) bool {
	d.known.mu.Lock()
	defer d.known.mu.Unlock()
	return id != "" && id == d.known.us
}

// Self returns our own account; nobody before it was first connected.
func (d *Discord) Self() (us chat.Person) {
	d.known.learn(func() { us = d.known.self })
	return us
}

// idOf reads the account's id out of a token, whose first part it is; "" when it is not there.
func idOf(token string) string {
	first, _, _ := strings.Cut(token, ".")
	id, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(first, "="))
	if err != nil || !isID(string(id)) {
		return ""
	}
	return string(id)
}

// isID says whether a word is one of Discord's ids.
func isID(word string) bool {
	if len(word) < 15 || len(word) > 20 {
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool { return r < '0' || r > '9' })
}

// place is a channel as a place. Whatever has no server is direct: bots are in no groups of friends.
func place(channel, guild string) chat.Place {
	kind := chat.Group
	if guild == "" {
		kind = chat.Direct
	}
	return chat.Place{Platform: Name, ID: channel, Kind: kind, Guild: guild}
}

// Fetch is where files of messages come from. See newFetcher for its bounds.
func newFetcher(cfg Config) *egress.Client {
	o := egress.Options{Timeout: fetchTime, MaxBytes: maxFile, UserAgent: "Familiar"}
	if u, err := url.Parse(cfg.APIURL); err == nil && cfg.APIURL != apiURL {
		o.Hosts = []string{u.Host} // the operator named it
	}
	return egress.New(o)
}

// Run listens until ctx ends or the connection is lost.
func (d *Discord) Run(ctx context.Context, hear chat.Hear, up func()) error {
	err := d.connect(ctx, hear, up)
	if ctx.Err() != nil {
		d.resume = session{} // we said good-bye
		return nil
	}
	return err
}
