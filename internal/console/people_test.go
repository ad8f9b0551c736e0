package console

import (
	"net/http"
	"strings"
	"testing"

	"familiar/internal/answer"
	"familiar/internal/console/consoletest"
)

// people answers the page as the host does: one code works, once.
func people(mux *http.ServeMux) {
	type person struct {
		Platform string `json:"platform"`
		ID       string `json:"id"`
		Name     string `json:"name"`
		At       string `json:"at"`
	}
	ann := person{"net", "ann", "<b>Ann</b>", "2026-11-30T10:00:00Z"}
	known := []person{}
	mux.HandleFunc("GET /console/people", func(w http.ResponseWriter, _ *http.Request) {
		answer.JSON(w, http.StatusOK, struct {
			Pairing bool     `json:"pairing"`
			Waiting int      `json:"waiting"`
			People  []person `json:"people"`
		}{true, 1 - len(known), known})
	})
	mux.HandleFunc("POST /console/people/pair", func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 100)
		n, _ := r.Body.Read(body)
		if !strings.Contains(string(body[:n]), `"abcd-efgh"`) {
			answer.Fail(w, http.StatusNotFound, "no such code")
			return
		}
		known = []person{ann}
		answer.JSON(w, http.StatusOK, ann)
	})
	mux.HandleFunc("POST /console/people/unpair", func(w http.ResponseWriter, _ *http.Request) {
		known = []person{}
		answer.JSON(w, http.StatusOK, ann)
	})
}

func TestPeopleAreLetInAndRemoved(t *testing.T) {
	state := ready()
	state.People = true
	r := newRig(t, state)
	r.open("/")
	r.Click("#people")
	r.Until(`document.querySelector("#admitted").open && document.activeElement.id === "code"`)
	r.Until(consoletest.Count("#known li", 1))
	r.Want(consoletest.Texts("#known li"), "Nobody is let in yet.")
	r.Want(consoletest.Texts("#codes"), "Codes that were given and not used yet: 1")
	r.Unanswered(func() {
		r.Type("#code", "wrong\n")
		r.Until(`document.querySelector("#paired").innerText === "This code does not work."`)
	})
	r.Type("#code", "abcd-efgh\n")
	r.Until(consoletest.Count("#known code", 1))
	r.Want(consoletest.Texts("#known .who"), "<b>Ann</b> net/ann")
	r.Want(consoletest.Texts("#paired"), "<b>Ann</b> is let in.")
	r.Click("#known button")
	r.Until(`document.querySelector("#known button").innerText === "Really remove?"`)
	r.Want(consoletest.Texts("#known .who"), "<b>Ann</b> net/ann")
	r.Click("#known button")
	r.Until(consoletest.Count("#known code", 0))
	r.Want(consoletest.Texts("#paired"), "<b>Ann</b> is let in no longer.")
	r.Click("#admittedClose")
	r.Until(`!document.querySelector("#admitted").open`)
}

func TestWithoutPairingThePageShowsNobody(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Until(`document.querySelector("#people").hidden`)
}
