package console

import (
	"net/http"
	"strings"
	"testing"

	"familiar/internal/answer"
	"familiar/internal/console/consoletest"
)

// notes answers the page as the host does: two drafts wait.
func notes(mux *http.ServeMux) {
	type file struct {
		Path string `json:"path"`
		Text string `json:"text"`
		Adds bool   `json:"adds"`
	}
	type draft struct {
		Name    string   `json:"name"`
		Session string   `json:"session"`
		Date    string   `json:"date"`
		Sources []string `json:"sources"`
		Files   []file   `json:"files"`
	}
	waiting := []draft{
		{"tea", "sess_1", "2026-11-30T10:00:00Z", []string{"https://example.org/tea"},
			[]file{{"notes/tea.md", "# Tea <img src=x onerror=alert(1)>", false}, {"notes/_index.md", "- tea.md: leaves", true}}},
		{"mate", "sess_2", "2026-11-30T11:00:00Z", []string{}, []file{{"notes/mate.md", "# Mate", false}}},
	}
	mux.HandleFunc("GET /console/notes", func(w http.ResponseWriter, _ *http.Request) {
		answer.JSON(w, http.StatusOK, struct {
			Notes []draft `json:"notes"`
		}{waiting})
	})
	done := func(session string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body := make([]byte, 100)
			n, _ := r.Body.Read(body)
			if len(waiting) == 0 || !strings.Contains(string(body[:n]), `"`+session+`"`) {
				answer.Fail(w, http.StatusNotFound, "no note that waits has this name")
				return
			}
			answer.JSON(w, http.StatusOK, waiting[0])
			waiting = waiting[1:]
		}
	}
	mux.HandleFunc("POST /console/notes/admit", done("sess_1"))
	mux.HandleFunc("POST /console/notes/reject", done("sess_2"))
}

func TestNotesAreLetInAndThrownAway(t *testing.T) {
	state := ready()
	state.Notes = true
	r := newRig(t, state)
	r.open("/")
	r.Click("#notes")
	r.Until(`document.querySelector("#drafts").open`)
	r.Until(consoletest.Count("#waiting > li", 2))
	r.Click("#waiting summary")
	r.Until(`document.querySelector("#waiting details").open`)
	r.Want(consoletest.Texts("#waiting li:first-child pre"), "# Tea <img src=x onerror=alert(1)> | - tea.md: leaves")
	r.Want(consoletest.Texts("#waiting li:first-child .sources code"), "https://example.org/tea")
	r.Until(consoletest.Count("#waiting img", 0))
	r.Click("#waiting .choice button")
	r.Until(consoletest.Count("#waiting > li", 1))
	r.Want(consoletest.Texts("#reviewed"), "tea is let in.")
	r.Click("#waiting summary")
	r.Click("#waiting .choice button:last-child")
	r.Until(`document.querySelector("#waiting .choice button:last-child").innerText === "Really throw it away?"`)
	r.Click("#waiting .choice button:last-child")
	r.Until(`document.querySelector("#waiting").innerText === "No note waits to be let in."`)
	r.Want(consoletest.Texts("#reviewed"), "mate is thrown away.")
	r.Click("#draftsClose")
	r.Until(`!document.querySelector("#drafts").open`)
}

func TestWithoutResearchThePageShowsNoNotes(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Until(`document.querySelector("#notes").hidden`)
}
