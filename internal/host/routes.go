package host

import (
	"net/http"
	"strings"

	"familiar/internal/answer"
	"familiar/internal/chat"
	"familiar/internal/console"
	"familiar/internal/login"
	"familiar/internal/platform"
	"familiar/internal/platform/web"
)

// maxRequest bounds a body before anybody reads it; routes may be stricter.
const maxRequest = 8 << 20

// routes is the one listener: probes for everybody, the page and the interface for the owner.
func (h *Host) routes(health *health) http.Handler {
	mux := http.NewServeMux()
	probes := http.NewServeMux()
	health.routes(probes)
	for _, path := range probePaths {
		mux.Handle(path, known(probes))
	}
	owned, signed := http.NewServeMux(), http.NewServeMux()
	if h.platforms[web.Name] == nil {
		for _, path := range []string{"/v1/sessions", "/v1/sessions/"} {
			owned.HandleFunc(path, noChat)
		}
	}
	for name, p := range h.platforms {
		if served, ok := p.(platform.Served); ok && name == web.Name {
			served.Routes(owned)
		} else if ok {
			served.Routes(signed)
		}
	}
	mux.Handle("/webhook/", known(signed)) // each proves itself to its platform
	owned.HandleFunc("POST /console/login", h.makeLink)
	h.peoplePage().Routes(owned)
	h.notesPage().Routes(owned)
	for _, path := range []string{"/v1", "/v1/", "/console/login", "/console/people", "/console/people/", "/console/notes", "/console/notes/"} {
		mux.Handle(path, h.login.Require(known(owned)))
	}
	page := http.NewServeMux()
	console.New(console.Options{State: h.state, LoggedIn: func(r *http.Request) bool {
		return login.Via(r.Context()) != login.None
	}}).Routes(page)
	mux.Handle("/", h.login.Page(known(page)))
	h.metricsRoute(mux, h.login.Require)
	return bounded(mux)
}

// probeRoutes is the second listener: nothing but probes, and what a scraper reads.
func (h *Host) probeRoutes(health *health) http.Handler {
	mux := http.NewServeMux()
	health.routes(mux)
	h.metricsRoute(mux, func(open http.Handler) http.Handler { return open })
	return bounded(known(mux))
}

// noChat answers where a bot is to be talked with that has other platforms alone.
func noChat(w http.ResponseWriter, _ *http.Request) {
	answer.Fail(w, http.StatusNotFound, "this bot is not to be talked with here: add «web: {}» to its platforms and start it again")
}

// makeLink mints a login link for whoever is the owner already.
func (h *Host) makeLink(w http.ResponseWriter, _ *http.Request) {
	answer.JSON(w, http.StatusOK, struct {
		URL string `json:"url"`
	}{h.LoginLink()})
}

// known answers what the routes do not have in the one form of errors.
func known(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "" && method != r.Method {
				w.Header().Set("Allow", method)
				answer.Fail(w, http.StatusMethodNotAllowed, r.Method+" is not possible here")
				return
			}
		}
		answer.Fail(w, http.StatusNotFound, "there is nothing at "+strings.ToValidUTF8(r.URL.Path, "?"))
	})
}

func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		next.ServeHTTP(w, r)
	})
}

// health makes the probes.
func (h *Host) health() *health {
	return &health{links: h.links, began: h.since, now: h.now,
		started: func() bool {
			select {
			case <-h.hearing:
				return true
			default:
				return false
			}
		},
		checks: h.readyChecks(),
	}
}

// state is what the page shows besides the conversation.
func (h *Host) state() console.State {
	s := console.State{
		Bot:   console.Bot{ID: h.cfg.Bot.ID, Name: h.cfg.Bot.Name, Language: h.cfg.Bot.Language, Desk: h.cfg.Bot.Desk},
		Agent: h.mind(),
	}
	people, _ := h.people.People()
	s.People = h.cfg.Access.Pairing || len(people) > 0
	s.Notes = h.reviews()
	for _, c := range h.commands.For(chat.Owner) {
		s.Commands = append(s.Commands, console.Command{Name: c.Name, Args: c.Args, Help: c.Help})
	}
	return s
}
