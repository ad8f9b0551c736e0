package misskeytest

import (
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

var (
	//go:embed me.json
	meDetailed []byte
	//go:embed meta.json
	metaLite []byte
)

// refusal is an error of the API.
type refusal struct {
	status int
	code   string
}

func (r refusal) Error() string { return r.code }

func no(code string) error { return refusal{http.StatusBadRequest, code} }

// endpoint does one call for the bot; no answer is 204.
type endpoint func(in *Instance, params json.RawMessage) (answer json.RawMessage, err error)

// endpoints are what the bot may call.
var endpoints = map[string]endpoint{
	"i":                            (*Instance).whoAmI,
	"meta":                         (*Instance).describe,
	"emojis":                       (*Instance).listEmojis,
	"notes/create":                 (*Instance).createNote,
	"notes/show":                   (*Instance).showNote,
	"notes/delete":                 (*Instance).deleteNote,
	"notes/reactions/create":       (*Instance).reactToNote,
	"notes/children":               (*Instance).listReplies,
	"notes/replies":                (*Instance).listReplies,
	"notes/conversation":           (*Instance).listAncestors,
	"notes/mentions":               (*Instance).listMentions,
	"notes/search":                 (*Instance).searchNotes,
	"users/notes":                  (*Instance).listNotesOf,
	"chat/history":                 (*Instance).listChats,
	"chat/messages/create-to-user": (*Instance).createChat,
	"chat/messages/delete":         (*Instance).deleteChat,
	"chat/messages/react":          (*Instance).reactToChat,
	"chat/messages/show":           (*Instance).showChat,
	"chat/messages/user-timeline":  (*Instance).listChat,
	"drive/files/delete":           (*Instance).deleteFile,
}

// handler answers the API, the stream and the files.
func (in *Instance) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/{path...}", in.serveCall)
	mux.HandleFunc("GET /streaming", in.serveStream)
	mux.HandleFunc("GET /files/{id}", in.serveFile)
	return mux
}

func (in *Instance) serveCall(w http.ResponseWriter, r *http.Request) {
	path := r.PathValue("path")
	plan := in.planned(path)
	var answer json.RawMessage
	var err error
	if plan == nil || plan.Done || plan.Status == 0 && !plan.Hang && !plan.Break {
		answer, err = in.do(path, r)
	} else {
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 64<<20)) // a broken connection says so by itself
	}
	if plan != nil && in.misbehave(w, r, *plan) {
		return
	}
	var refused refusal
	switch {
	case errors.As(err, &refused):
		send(w, refused.status, mustJSON(map[string]map[string]string{"error": {"code": refused.code, "message": "Refused: " + refused.code,
			"id": "00000000-0000-0000-0000-000000000000"}}))
	case err != nil:
		send(w, http.StatusBadRequest, mustJSON(map[string]map[string]string{"error": {"code": "INVALID_PARAM", "message": err.Error(),
			"id": "00000000-0000-0000-0000-000000000000"}}))
	case len(answer) == 0:
		w.WriteHeader(http.StatusNoContent)
	default:
		send(w, http.StatusOK, answer)
	}
}

func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever went away needs no answer
}

// Speaking stands in Misbehave for whichever call comes first that says something to people.
const Speaking = "speaking"

var anyOf = map[string]string{"notes/create": Speaking, "notes/reactions/create": Speaking,
	"chat/messages/create-to-user": Speaking, "chat/messages/react": Speaking}

// planned counts a call and takes its plan, if there is one.
func (in *Instance) planned(path string) *Misbehaviour {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.calls[path]++
	for _, of := range []string{path, anyOf[path]} {
		if plans := in.plans[of]; len(plans) > 0 {
			in.plans[of] = plans[1:]
			return &plans[0]
		}
	}
	return nil
}

// misbehave carries a plan out, and reports whether that was the answer.
func (in *Instance) misbehave(w http.ResponseWriter, r *http.Request, plan Misbehaviour) bool {
	if plan.Wait > 0 || plan.Hang {
		wait := time.NewTimer(plan.Wait)
		defer wait.Stop()
		elapsed := wait.C
		if plan.Hang {
			elapsed = nil
		}
		select {
		case <-elapsed:
		case <-r.Context().Done():
			return true
		case <-in.done:
			return true
		}
	}
	switch {
	case plan.Break:
		panic(http.ErrAbortHandler)
	case plan.Status == 0:
		return false
	}
	for name, values := range plan.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(plan.Status)
	_, _ = io.WriteString(w, plan.Body) // whoever went away needs no answer
	return true
}

// do reads a call, holds it and its answer against the published shapes, and does it.
func (in *Instance) do(path string, r *http.Request) (json.RawMessage, error) {
	if path == "drive/files/create" {
		return in.upload(r)
	}
	call, ok := endpoints[path]
	if !ok {
		in.complain("%s is no endpoint of the API", path)
		return nil, refusal{http.StatusNotFound, "UNKNOWN_API_ENDPOINT"}
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	var params map[string]json.RawMessage
	if err := json.Unmarshal(raw, &params); err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		in.complain("%s: the request is no JSON object: %v", path, err)
		return nil, no("INVALID_PARAM")
	}
	var token string
	_ = json.Unmarshal(params["i"], &token) // what is no text is no token
	delete(params, "i")
	if err := in.admit(token); err != nil {
		return nil, err
	}
	raw = mustJSON(params)
	if err := check("request", path, raw); err != nil {
		in.complain("%s: the request has not the published shape: %v", path, err)
		return nil, no("INVALID_PARAM")
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	answer, err := call(in, raw)
	if err == nil && len(answer) > 0 {
		if wrong := check("answer", path, answer); wrong != nil {
			in.fault("%s: the fake's own answer has not the published shape: %v", path, wrong)
		}
	}
	return answer, err
}

func (in *Instance) admit(token string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case token == "":
		return refusal{http.StatusUnauthorized, "CREDENTIAL_REQUIRED"}
	case token != Token || in.revoked:
		return refusal{http.StatusForbidden, "AUTHENTICATION_FAILED"}
	}
	return nil
}

func (in *Instance) complain(format string, of ...any) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.fault(format, of...)
}

func (in *Instance) whoAmI(json.RawMessage) (json.RawMessage, error) {
	return over(meDetailed, mustJSON(in.me))
}

func (in *Instance) describe(json.RawMessage) (json.RawMessage, error) {
	return over(metaLite, mustJSON(map[string]int{"maxNoteTextLength": in.longest}))
}

// over is an object with what another one says of it.
func over(whole, said []byte) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(whole, &all), json.Unmarshal(said, &all)); err != nil {
		return nil, err
	}
	return mustJSON(all), nil
}

func (in *Instance) listEmojis(json.RawMessage) (json.RawMessage, error) {
	return mustJSON(map[string][]Emoji{"emojis": in.emojis}), nil
}
