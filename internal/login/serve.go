package login

import (
	"context"
	"net/http"
	"strings"

	"familiar/internal/answer"
	"familiar/internal/chat"
)

// Kind says how a request proved that it is the owner's.
type Kind int

// The kinds. Answers to approvals need a PageSession: a program that holds the token must not say yes for its
// owner.
const (
	None Kind = iota
	Bearer
	PageSession
)

type viaKey struct{}

// Via returns how the request of this context was let in; None outside Require and Page, and for strangers.
func Via(ctx context.Context) Kind {
	k, _ := ctx.Value(viaKey{}).(Kind)
	return k
}

const (
	linkParam  = "login"
	againParam = "again"
)

// Require lets only the owner through, by token or page session; anybody else gets 401, and a request that a
// foreign page or name could have made 403, as JSON.
func (l *Login) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := l.foreign(r); why != "" {
			answer.Fail(w, http.StatusForbidden, why)
			return
		}
		kind := l.kind(r)
		switch {
		case kind == None:
			l.stranger(w, r)
		case kind == PageSession && crossed(r):
			answer.Fail(w, http.StatusForbidden, "another page may not call this")
		default:
			next.ServeHTTP(w, with(r, kind))
		}
	})
}

// Page is for pages: strangers come through too, and next shows them how to get in (Via says None). A login link
// is swapped for a page session and a redirect to "/", so that the link stays in no history and no log.
func (l *Login) Page(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := l.foreign(r); why != "" {
			answer.Fail(w, http.StatusForbidden, why)
			return
		}
		w.Header().Set("Referrer-Policy", "no-referrer")
		if r.URL.Query().Has(linkParam) {
			l.swap(w, r)
			return
		}
		kind := l.kind(r)
		switch {
		case kind == PageSession && crossed(r) && !reads(r):
			answer.Fail(w, http.StatusForbidden, "another page may not call this")
			return
		case kind == None && crossed(r) && r.Method == http.MethodGet && !r.URL.Query().Has(againParam):
			// A strict cookie is not sent when another site's link led here. Our own page, asking once more, brings it.
			w.Header().Set("Refresh", "0; url=/?"+againParam)
		}
		next.ServeHTTP(w, with(r, kind))
	})
}

// swap gives a session for a link. Only a GET uses a link up: programs that look at links first send HEAD.
func (l *Login) swap(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodGet {
		if l.links.take(l.hash(r.URL.Query().Get(linkParam)), l.now()) {
			id := mint()
			if err := l.sessions.add(r.Context(), l.hash(id), l.now()); err != nil {
				l.log.Error("a login could not be completed", chat.KeyErr, err)
				answer.Fail(w, http.StatusInternalServerError, "the login could not be kept; the log says why")
				return
			}
			http.SetCookie(w, &http.Cookie{Name: l.cookie, Value: id, Path: "/", MaxAge: int(sessionLife.Seconds()),
				HttpOnly: true, Secure: l.secure, SameSite: http.SameSiteStrictMode})
		} else if l.failed(r) {
			tooMany(w)
			return
		}
	}
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// kind checks what a request brings. A token that is brought is the only thing that counts, right or wrong.
func (l *Login) kind(r *http.Request) Kind {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if strings.EqualFold(scheme, "Bearer") && l.token.Is(strings.TrimSpace(token)) {
			return Bearer
		}
		return None
	}
	for _, c := range r.CookiesNamed(l.cookie) {
		if l.sessions.has(l.hash(c.Value), l.now()) {
			return PageSession
		}
	}
	return None
}

// stranger refuses, and counts those who tried something.
func (l *Login) stranger(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" && l.failed(r) {
		tooMany(w)
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	answer.Fail(w, http.StatusUnauthorized, "log in first: open the link that «familiar open» makes, or send the token as a bearer")
}

// keyAddress is the log key of a client's address.
const keyAddress = "address"

// failed counts an attempt and reports whether there were too many.
func (l *Login) failed(r *http.Request) bool {
	from := l.from(r)
	many, now := l.failures.add(from, l.now())
	if now {
		l.log.Warn("many failed logins", keyAddress, from.String())
	}
	return many
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func with(r *http.Request, kind Kind) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), viaKey{}, kind))
}

func tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "60")
	answer.Fail(w, http.StatusTooManyRequests, "too many failed logins; wait a minute")
}
