package toolserver

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"familiar/internal/tool"
)

const mcpPath = "/mcp"

// skillPath is what the skill API answers; the name is matched before anything is looked up.
var skillPath = regexp.MustCompile(`^/api/skill/([a-z-]+)$`)

// answer is what the skill API says, always as JSON.
type answer struct {
	Success    bool            `json:"success"`
	Data       json.RawMessage `json:"data,omitempty"`
	Error      string          `json:"error,omitempty"`
	StatusCode int             `json:"statusCode"`
}

// routes puts the two faces behind one guard.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(mcpPath, s.mcpFace())
	mux.HandleFunc("/", s.skill)
	return s.guard(mux)
}

// guard refuses what a web page could have sent: the listener is for processes of this machine, which name it
// by a loopback address. A name that only resolves to it (DNS rebinding) is not one.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.in.TryRLock() { // Serve waits for the last request: nobody comes in any more
			write(w, tool.Fault{Status: 503, Say: "shutting down"})
			return
		}
		defer s.in.RUnlock()
		if !loopback(hostOnly(r.Host)) {
			write(w, tool.Fault{Status: 403, Say: "the Host header is not a loopback address"})
			return
		}
		if _, host, ok := strings.Cut(r.Header.Get("Origin"), "://"); r.Header.Get("Origin") != "" && (!ok || !loopback(hostOnly(host))) {
			write(w, tool.Fault{Status: 403, Say: "web pages may not call this"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// hostOnly takes the port off.
func hostOnly(host string) string {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return host
}

// skill answers one call of the skill API. The order of the checks is part of the interface.
func (s *Server) skill(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
		return
	case http.MethodPost:
	default:
		w.Header().Set("Allow", "POST, OPTIONS")
		write(w, tool.Fault{Status: 405, Say: "only POST is answered"})
		return
	}
	path := skillPath.FindStringSubmatch(r.URL.Path)
	if path == nil {
		write(w, tool.Fault{Status: 404, Say: "skills are at /api/skill/NAME"})
		return
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		write(w, unread(err))
		return
	}
	asked, err := parse(raw)
	if err != nil {
		write(w, err)
		return
	}
	ctx, after := tool.Answering(r.Context())
	defer after()
	res, err := s.ask(r.WithContext(ctx), path[1], asked)
	if err != nil {
		write(w, err)
		return
	}
	send(w, answer{Success: true, Data: res.Data, StatusCode: http.StatusOK})
}

// asked is the body of a call.
type asked struct {
	session string
	args    json.RawMessage
}

// parse reads a body. It accepts any parameters; the tool's schema judges them.
func parse(raw []byte) (asked, error) {
	if !json.Valid(raw) {
		return asked{}, tool.Fault{Status: 400, Say: "the body is not JSON"}
	}
	var body struct {
		SessionID  json.RawMessage `json:"sessionId"`
		Parameters json.RawMessage `json:"parameters"`
	}
	var a asked
	if json.Unmarshal(raw, &body) != nil || json.Unmarshal(body.SessionID, &a.session) != nil || a.session == "" {
		return asked{}, tool.Bad(`sessionId is missing; send {"sessionId": "…", "parameters": {…}}`)
	}
	a.args = body.Parameters
	if len(a.args) == 0 || string(a.args) == "null" {
		a.args = json.RawMessage("{}")
	}
	return a, nil
}

// ask checks who calls, and runs the tool.
func (s *Server) ask(r *http.Request, name string, a asked) (tool.Result, error) {
	d, ok := s.find(a.session)
	if !ok {
		return tool.Result{}, tool.Fault{Status: 401, Say: "the session is unknown, or has ended"}
	}
	if !d.token.Is(bearer(r)) {
		return tool.Result{}, tool.Fault{Status: 403, Say: "the token is missing or wrong; send «Authorization: Bearer $SKILL_API_TOKEN»"}
	}
	leave, err := d.enter(s.now)
	if err != nil {
		return tool.Result{}, err
	}
	defer leave()
	if !d.has(name) {
		d.note(r.Context(), name, a.args)
		return tool.Result{}, tool.Fault{Status: 404, Say: "there is no skill " + name + " in this session"}
	}
	if a.args[0] != '{' {
		return tool.Result{}, tool.Bad("parameters must be an object")
	}
	res, err := d.call(r.Context(), name, a.args)
	if err != nil {
		return tool.Result{}, s.explain(d, name, err)
	}
	return res, nil
}

// bearer returns the token that a request brings, or "".
func bearer(r *http.Request) string {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func unread(err error) tool.Fault {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return tool.Fault{Status: http.StatusRequestEntityTooLarge, Say: "the body is larger than 1 MiB"}
	}
	return tool.Fault{Status: 500, Say: "the body could not be read"}
}

// write answers with a fault.
func write(w http.ResponseWriter, err error) {
	fault := tool.Fault{Status: 500, Say: "something went wrong"}
	errors.As(err, &fault)
	send(w, answer{Error: fault.Say, StatusCode: fault.Status})
}

// send writes the answer and pushes it out, since what waits for it may end the one who reads it.
func send(w http.ResponseWriter, a answer) {
	out, err := json.Marshal(a)
	if err != nil { // data that is not JSON: a tool's fault
		a = answer{Error: "the answer could not be written", StatusCode: 500}
		out, _ = json.Marshal(a)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	ctl := http.NewResponseController(w)
	_ = ctl.SetWriteDeadline(time.Now().Add(writeTime)) // a recorder has none
	w.WriteHeader(a.StatusCode)
	_, _ = w.Write(append(out, '\n')) // the caller hung up: nobody is left to tell
	_ = ctl.Flush()
}
