package note

import (
	"encoding/json"
	"errors"
	"net/http"

	"familiar/internal/answer"
)

// Page is what the owner's page asks. Who reaches its routes is the owner: whether they may is decided in front.
type Page struct {
	Notes *Notes
	Done  func(d Draft, what string) // told of what was done
}

// maxBody is far above the name of a session.
const maxBody = 4 << 10

// Routes adds what the page asks under /console/notes.
func (p Page) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /console/notes", p.list)
	mux.HandleFunc("POST /console/notes/admit", p.admit)
	mux.HandleFunc("POST /console/notes/reject", p.reject)
}

// draftJSON is how the page reads a draft.
type draftJSON struct {
	Name string `json:"name"`
	Draft
}

func (p Page) list(w http.ResponseWriter, _ *http.Request) {
	all, err := p.Notes.Waiting()
	drafts := make([]draftJSON, len(all))
	for i, d := range all {
		drafts[i] = draftJSON{d.Name(), d}
	}
	if err != nil && len(all) == 0 {
		answer.Fail(w, http.StatusInternalServerError, "the notes cannot be read; the log says more")
		return
	}
	answer.JSON(w, http.StatusOK, struct {
		Notes []draftJSON `json:"notes"`
	}{drafts})
}

func (p Page) admit(w http.ResponseWriter, r *http.Request) {
	p.do(w, r, "admitted", func(session string) (Draft, error) { return p.Notes.Admit(session, true) })
}

func (p Page) reject(w http.ResponseWriter, r *http.Request) {
	p.do(w, r, "rejected", func(session string) (Draft, error) { return Draft{Session: session}, p.Notes.Reject(session) })
}

// do does one thing to the draft of the session that the body names.
func (p Page) do(w http.ResponseWriter, r *http.Request, what string, deed func(string) (Draft, error)) {
	var asked struct {
		Session string `json:"session"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&asked); err != nil {
		answer.Fail(w, http.StatusBadRequest, "the request is not the JSON that is asked for here")
		return
	}
	d, err := deed(asked.Session)
	switch {
	case errors.Is(err, ErrUnknown):
		answer.Fail(w, http.StatusNotFound, ErrUnknown.Error())
	case err != nil:
		answer.Fail(w, http.StatusInternalServerError, "something went wrong here")
	default:
		p.Done(d, what)
		answer.JSON(w, http.StatusOK, draftJSON{d.Name(), d})
	}
}
