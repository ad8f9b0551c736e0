package pairing

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"familiar/internal/answer"
	"familiar/internal/chat"
)

// Page is what the owner's page asks. Who reaches its routes is the owner: whether they may is decided in front.
type Page struct {
	People *Pairing
	On     bool        // strangers get codes
	Owner  chat.Person // who admits somebody here

	// Admitted and Removed are told of what was done.
	Admitted func(context.Context, Admission)
	Removed  func(context.Context, Admission)
}

// maxBody is far above a code and an id.
const maxBody = 4 << 10

// personJSON is how the page reads a person.
type personJSON struct {
	Platform string    `json:"platform"`
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	At       time.Time `json:"at"`
}

func shown(a Admission) personJSON {
	return personJSON{a.Person.Platform, a.Person.ID, a.Person.Name, a.At}
}

// Routes adds what the page asks under /console/people.
func (p Page) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /console/people", p.list)
	mux.HandleFunc("POST /console/people/pair", p.pair)
	mux.HandleFunc("POST /console/people/unpair", p.unpair)
}

func (p Page) list(w http.ResponseWriter, _ *http.Request) {
	all, waiting := p.People.People()
	people := make([]personJSON, len(all))
	for i, a := range all {
		people[i] = shown(a)
	}
	answer.JSON(w, http.StatusOK, struct {
		Pairing bool         `json:"pairing"`
		Waiting int          `json:"waiting"`
		People  []personJSON `json:"people"`
	}{p.On, waiting, people})
}

func (p Page) pair(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Code string `json:"code"`
	}
	if !read(w, r, &asked) {
		return
	}
	if !p.On {
		answer.Fail(w, http.StatusConflict, "pairing is off: set access.pairing to true")
		return
	}
	a, err := p.People.Admit(r.Context(), asked.Code, p.Owner)
	if err != nil {
		refuse(w, err)
		return
	}
	p.Admitted(r.Context(), a)
	answer.JSON(w, http.StatusOK, shown(a))
}

func (p Page) unpair(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Platform string `json:"platform"`
		ID       string `json:"id"`
	}
	if !read(w, r, &asked) {
		return
	}
	a, err := p.People.Remove(r.Context(), asked.Platform+"/"+asked.ID)
	if err != nil {
		refuse(w, err)
		return
	}
	p.Removed(r.Context(), a)
	answer.JSON(w, http.StatusOK, shown(a))
}

// read takes a small JSON body, or answers that it is none.
func read[V any](w http.ResponseWriter, r *http.Request, into *V) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		answer.Fail(w, http.StatusRequestEntityTooLarge, "the request is too large")
	case err != nil:
		answer.Fail(w, http.StatusBadRequest, "the request is not the JSON that is asked for here")
	}
	return err == nil
}

func refuse(w http.ResponseWriter, err error) {
	for known, status := range map[error]int{ErrCode: http.StatusNotFound, ErrUnknown: http.StatusNotFound,
		ErrTooMany: http.StatusTooManyRequests, ErrFull: http.StatusConflict} {
		if errors.Is(err, known) {
			answer.Fail(w, status, known.Error())
			return
		}
	}
	answer.Fail(w, http.StatusInternalServerError, "something went wrong here")
}
