package host

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/gate"
	"familiar/internal/research"
)

// ownNotes is a bot whose owner on the network is ann, with a note that waits.
func ownNotes(t *testing.T) *rig {
	t.Helper()
	at := feed(t)
	r, _ := initiative(t, func(c *config.Config) {
		own := &c.Companion.SelfResearch
		own.Enabled, own.Model, own.RSSFeeds = true, "m", []research.Feed{{URL: at}}
	}, noting())
	r.gate.Reload(gate.Config{ReplyPolicy: "all"}, []chat.Person{{Platform: "net", ID: "ann"}})
	r.researches()
	return r
}

// The owner looks at notes by words. The text of a note stays out of the place, whose talk agents are told; nobody else
// has the command.
func TestTheOwnerLooksAtNotes(t *testing.T) {
	r := ownNotes(t)
	says := func(who, text string) string {
		t.Helper()
		n := len(r.net.said())
		r.hears(event("dm-"+who, who, text), chat.Accepted)
		r.until("it is answered", func() bool { return len(r.net.said()) > n })
		return r.net.said()[n]
	}
	if got := says("ann", "/notes"); !strings.Contains(got, "`green-tea`") || !strings.Contains(got, "/notes admit") {
		t.Error(got)
	}
	if got := says("ann", "/notes show green-tea"); !strings.Contains(got, "https://news.example/tea") || !strings.Contains(got, "`notes/green-tea.md`") || strings.Contains(got, "oolong") {
		t.Error(got)
	}
	if got := says("ann", "/status"); !strings.Contains(got, "Notes that wait to be let in: 1") || !strings.Contains(got, "Next by itself: ") {
		t.Error(got)
	}
	for text, want := range map[string]string{"/notes admit": "Say which one", "/notes show none": "No note that waits", "/notes eat green-tea": "Say which one"} {
		if got := says("ann", text); !strings.Contains(got, want) {
			t.Error(text, got)
		}
	}
	if got := says("eve", "/notes admit green-tea"); strings.Contains(got, "Let in") || r.note("green-tea.md") != "" {
		t.Error("a stranger let a note in:", got)
	}
	if got := says("ann", "/notes admit green-tea"); !strings.Contains(got, "`notes/green-tea.md`") || r.note("green-tea.md") == "" {
		t.Error(got)
	}
	if got := says("ann", "/notes"); !strings.Contains(got, "No note waits") {
		t.Error(got)
	}
}

func TestThePageLooksAtNotes(t *testing.T) {
	r := ownNotes(t)
	ask := func(method, path, body string, status int) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(r.URL(), "/")+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.Repeat("t", 64))
		if status == http.StatusUnauthorized {
			req.Header.Del("Authorization")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != status {
			t.Errorf("%s %s: %d %s %v", method, path, res.StatusCode, text, err)
		}
		return string(text)
	}
	ask("GET", "/console/notes", "", http.StatusUnauthorized)
	var listed struct {
		Notes []struct{ Session, Name string }
	}
	if err := json.Unmarshal([]byte(ask("GET", "/console/notes", "", 200)), &listed); err != nil || len(listed.Notes) != 1 || listed.Notes[0].Name != "green-tea" {
		t.Fatal(listed, err)
	}
	ask("POST", "/console/notes/admit", `{"session":"../x"}`, 404)
	ask("POST", "/console/notes/admit", `[`, 400)
	ask("POST", "/console/notes/reject", `{"session":"`+listed.Notes[0].Session+`"}`, 200)
	ask("POST", "/console/notes/admit", `{"session":"`+listed.Notes[0].Session+`"}`, 404)
	if r.note("green-tea.md") != "" {
		t.Error("it was let in")
	}
}
