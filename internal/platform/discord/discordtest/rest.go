package discordtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// prefix is where version 10 of the API is.
const prefix = "/api/v10"

// result is what a route answers: a fault, or a status and what it says, held against a schema when one is named.
type result struct {
	status int
	schema string
	body   any
	fault  *fault
}

func refuse(f *fault) result { return result{fault: f} }

var empty = result{status: http.StatusNoContent}

// routes is the table of what the fake serves.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /gateway", s.gateway)
	mux.HandleFunc("GET /gateway/", s.gateway)
	mux.HandleFunc("GET /attachments/{id}/{name}", s.file)
	for route, serve := range map[string]func(http.ResponseWriter, *http.Request) result{
		"GET /gateway/bot":                                                 s.gatewayBot,
		"GET /users/@me":                                                   func(http.ResponseWriter, *http.Request) result { return result{status: 200, body: s.bot} },
		"POST /users/@me/channels":                                         s.openDirect,
		"GET /channels/{channel}/messages":                                 s.readMessages,
		"POST /channels/{channel}/messages":                                s.createMessage,
		"PATCH /channels/{channel}/messages/{message}":                     s.editMessage,
		"DELETE /channels/{channel}/messages/{message}":                    s.deleteMessage,
		"PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me": s.react,
		"POST /channels/{channel}/typing":                                  s.typing,
		"GET /applications/{app}/emojis":                                   s.appEmojis,
		"GET /stickers/{sticker}":                                          s.sticker,
		"PUT /applications/{app}/commands":                                 s.commands,
		"PUT /applications/{app}/guilds/{guild}/commands":                  s.commands,
	} {
		method, path, _ := strings.Cut(route, " ")
		mux.HandleFunc(method+" "+prefix+path, s.guarded(serve))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.problem("nothing is at %s %s", r.Method, r.URL.Path)
		s.answer(w, refuse(no(http.StatusNotFound, 0, "404: Not Found")))
	})
	return mux
}

// guarded is what stands before every route.
func (s *Server) guarded(serve func(http.ResponseWriter, *http.Request) result) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.EscapedPath(), prefix)
		s.mu.Lock()
		s.tally.Requests = append(s.tally.Requests, r.Method+" "+path)
		known := bearer(r) == s.token && !s.faults.revoked
		s.mu.Unlock()
		if !strings.HasPrefix(r.UserAgent(), "DiscordBot (") {
			s.problem("the User-Agent is %q", r.UserAgent())
		}
		if !known {
			s.answer(w, refuse(no(http.StatusUnauthorized, 0, "401: Unauthorized")))
			return
		}
		if a, ok := s.planned(r.Method, path); ok {
			if a.Done {
				s.answer(discarding{http.Header{}}, serve(discarding{http.Header{}}, r))
			}
			s.fail(w, a)
			return
		}
		s.answer(w, serve(w, r))
	}
}

// discarding is a writer whose answer nobody gets.
type discarding struct{ header http.Header }

func (d discarding) Header() http.Header            { return d.header }
func (d discarding) Write(text []byte) (int, error) { return len(text), nil }
func (d discarding) WriteHeader(int)                {}

func (s *Server) fail(w http.ResponseWriter, a Answer) {
	if a.Abort {
		panic(http.ErrAbortHandler)
	}
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body) // whoever went away does not read it
}

func (s *Server) answer(w http.ResponseWriter, res result) {
	status, body := res.status, res.body
	if res.fault != nil {
		status, body = res.fault.status, res.fault
		for name, value := range res.fault.header {
			w.Header().Set(name, value)
		}
	}
	if body == nil {
		w.WriteHeader(status)
		return
	}
	s.mu.Lock()
	text, err := json.Marshal(body)
	s.mu.Unlock()
	if err == nil && res.schema != "" && res.fault == nil {
		err = s.schemas.check(res.schema, text)
	}
	if err != nil {
		s.problem("an answer of ours is not what Discord publishes: %v", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func (s *Server) gatewayBot(http.ResponseWriter, *http.Request) result {
	type limit struct {
		Total      int `json:"total"`
		Remaining  int `json:"remaining"`
		ResetAfter int `json:"reset_after"`
		Concurrent int `json:"max_concurrency"`
	}
	return result{status: 200, schema: "gateway-bot", body: struct {
		URL    string `json:"url"`
		Shards int    `json:"shards"`
		Limit  limit  `json:"session_start_limit"`
	}{s.socketURL(), 1, limit{1000, 999, 14_400_000, 1}}}
}

// bytesOf reads a body and holds it against a schema.
func (s *Server) bytesOf(r *http.Request, schema string) ([]byte, *fault) {
	text, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		return nil, no(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	return text, s.valid(r, schema, text)
}

func (s *Server) valid(r *http.Request, schema string, text []byte) *fault {
	if err := s.schemas.check(schema, text); err != nil {
		s.problem("%s %s: %v", r.Method, r.URL.Path, err)
		return invalid("_", "INVALID", err.Error())
	}
	return nil
}

func (s *Server) openDirect(_ http.ResponseWriter, r *http.Request) result {
	text, f := s.bytesOf(r, "create-direct")
	if f != nil {
		return refuse(f)
	}
	var ask struct {
		Recipient string `json:"recipient_id"`
	}
	if err := json.Unmarshal(text, &ask); err != nil {
		return refuse(invalid("recipient_id", "INVALID", err.Error()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u, ok := s.people[ask.Recipient]
	switch {
	case !ok:
		return refuse(no(http.StatusBadRequest, 50033, "Invalid Recipient(s)"))
	case u.silent:
		return refuse(no(http.StatusForbidden, 50007, "Cannot send messages to this user"))
	}
	c := s.directOf(u.ID)
	return result{status: 200, schema: "direct", body: direct{ID: c.ID, Type: DM, Recipients: []User{u}}}
}

func (s *Server) appEmojis(http.ResponseWriter, *http.Request) result {
	s.mu.Lock()
	defer s.mu.Unlock()
	return result{status: 200, schema: "emojis", body: struct {
		Items []Emoji `json:"items"`
	}{append([]Emoji{}, s.emojis...)}}
}

func (s *Server) sticker(_ http.ResponseWriter, r *http.Request) result {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.stickers[r.PathValue("sticker")]
	if !ok {
		return refuse(no(http.StatusNotFound, 10060, "Unknown sticker"))
	}
	return result{status: 200, schema: "sticker", body: found}
}

// commands takes a list of commands.
func (s *Server) commands(_ http.ResponseWriter, r *http.Request) result {
	var list []json.RawMessage
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&list); err != nil || list == nil {
		s.problem("a list of commands that is none: %v", err)
		return refuse(no(http.StatusBadRequest, 50109, "The request body contains invalid JSON."))
	}
	for _, c := range list {
		if f := s.valid(r, "command", c); f != nil {
			return refuse(f)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.Commands = append(s.tally.Commands, strings.TrimPrefix(r.URL.Path, prefix))
	s.tell()
	return result{status: 200, body: []json.RawMessage{}}
}

// file serves what was uploaded.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	found, ok := s.files[r.PathValue("id")]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", found.kind)
	_, _ = w.Write(found.data)
}
