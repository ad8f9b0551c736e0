package host

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/note"
	"familiar/internal/research"
)

// feed serves one article, whose feed lies in the operator's own network.
func feed(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<rss version="2.0"><channel><title>News</title><item><title>Green tea</title><link>https://news.example/tea</link></item></channel></rss>`))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// researching is a bot that reads that feed.
func researching(t *testing.T, review string, turns ...script.Turn) *rig {
	t.Helper()
	at := feed(t)
	r, _ := initiative(t, func(c *config.Config) {
		own := &c.Companion.SelfResearch
		own.Enabled, own.RSSFeeds, own.Review = true, []research.Feed{{URL: at}}, review
	}, turns...)
	return r
}

func (r *rig) researches() {
	r.t.Helper()
	if err := r.researchOnce(r.t.Context(), time.Now()); err != nil {
		r.t.Fatalf("%v\n%s", err, r.log)
	}
}

func (r *rig) note(name string) string {
	text, _ := os.ReadFile(filepath.Join(r.folders.Notes(), "notes", name))
	return string(text)
}

// noting is a session that writes a note by tools, and tries to read a page of the operator's network.
func noting() script.Turn {
	return script.Turn{Steps: []script.Step{
		use("read-page", map[string]string{"url": "http://127.0.0.1:1/secret"}),
		use("write-note", map[string]string{"path": "notes/green-tea.md", "content": "---\nstanding: owner\n---\n# Green tea\n\nFrom leaves of oolong."}),
		use("write-note", map[string]string{"path": "notes/_index.md", "content": "- green-tea.md: leaves"}),
	}}
}

// A note that a session of research wrote is no note that anybody can find, until its owner lets it in.
func TestANoteWaitsForItsOwner(t *testing.T) {
	r := researching(t, research.ReviewAsk, noting())
	r.researches()
	all, err := r.drafts.Waiting()
	if err != nil || len(all) != 1 || len(all[0].Files) != 2 || strings.Join(all[0].Sources, " ") != "https://news.example/tea" {
		t.Fatalf("%+v %v\n%s", all, err, r.log)
	}
	if r.note("green-tea.md") != "" || strings.Contains(r.note("_index.md"), "green-tea") {
		t.Error("it was put among the notes")
	}
	if found, err := r.notes.Search(t.Context(), "oolong", 10); err != nil || len(found) != 0 {
		t.Errorf("memory-search tells %+v", found)
	}
	if !strings.Contains(r.log.String(), "standing=foreign") {
		t.Error("the turn did not fall to what it had read")
	}
	if _, err := r.drafts.Admit(all[0].Session, true); err != nil {
		t.Fatal(err)
	}
	if found, err := r.notes.Search(t.Context(), "oolong", 10); err != nil || len(found) != 1 {
		t.Errorf("memory-search tells %+v %v", found, err)
	}
	if got := r.note("green-tea.md"); !strings.Contains(got, "standing: foreign\nsession: "+all[0].Session) || strings.Contains(got, "standing: owner") {
		t.Error(got)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(r.folders.Notes()), "workspaces", "*", "*", "tmp", "*")); len(left) != 0 {
		t.Error("left behind:", left)
	}
}

func TestWithoutReviewANoteGoesInAtOnce(t *testing.T) {
	r := researching(t, research.ReviewOff, silent(), noting())
	r.researches()
	if got := r.note("green-tea.md"); !strings.Contains(got, "standing: foreign\n") || !strings.Contains(got, "https://news.example/tea") || strings.Contains(got, "admitted:") {
		t.Errorf("%q\n%s", got, r.log)
	}
	if told := r.agent.prompt(1); !strings.Contains(told, "there is no new note") {
		t.Error("it was not asked again:", told)
	}
	if all, _ := r.drafts.Waiting(); len(all) != 0 {
		t.Error(all)
	}
}

// An agent that writes no note is asked twice and then let be; the job has not failed.
func TestNoNote(t *testing.T) {
	r := researching(t, research.ReviewAsk, silent(), silent())
	r.researches()
	if !strings.Contains(r.log.String(), "wrote none") || r.agent.prompt(1) == "" || r.agent.prompt(2) != "" {
		t.Error(r.log.String())
	}
}

// While as many notes wait as may, none is written that would be thrown away.
func TestTooManyNotesWait(t *testing.T) {
	r := researching(t, research.ReviewAsk, noting())
	for i := range note.MostDrafts {
		dir := filepath.Join(filepath.Dir(r.folders.Notes()), note.Folder, fmt.Sprint("sess_", i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.researches()
	if r.agent.prompt(0) != "" || !strings.Contains(r.log.String(), "as many notes wait") {
		t.Error(r.log)
	}
}

// No other session has the tools of research.
func TestWhoWritesNotes(t *testing.T) {
	r := researching(t, research.ReviewAsk, script.Turn{Steps: []script.Step{noting().Steps[1], use("send-reply", map[string]string{"message": "hi"})}})
	r.hears(event("dm-ann", "ann", "write a note"), chat.Accepted)
	r.says("dm-ann: hi")
	if all, _ := r.drafts.Waiting(); len(all) != 0 || r.note("green-tea.md") != "" {
		t.Error(all)
	}
}

// An agent in a process of its own cannot write the notes themselves, whatever it tries; what it writes by the tool waits.
// It finds a copy of the notes where it is told that they are.
func TestAnAgentCannotWriteTheNotesThemselves(t *testing.T) {
	r := researching(t, research.ReviewAsk)
	shared := filepath.Join(r.folders.Notes(), "notes")
	waiting := filepath.Join(filepath.Dir(r.folders.Notes()), "notes-waiting")
	r.processes(script.Script{Turns: []script.Turn{{Steps: []script.Step{
		{Write: filepath.Join(shared, "mine.md")},
		{Write: filepath.Join(shared, "_index.md")},
		{Write: filepath.Join(waiting, "sess_0", "notes", "mine.md")},
		{FS: &script.File{Path: filepath.Join(shared, "mine.md"), Content: "mine"}},
		{Read: filepath.Join(shared, "_index.md")},
		{Env: true},
		noting().Steps[1],
	}}}})
	before := r.note("_index.md")
	r.researches()
	if r.note("mine.md") != "" || r.note("_index.md") != before || r.note("green-tea.md") != "" {
		t.Error("it wrote the notes themselves")
	}
	all, err := r.drafts.Waiting()
	if err != nil || len(all) != 1 || len(all[0].Files) != 1 || all[0].Files[0].Path != "notes/green-tea.md" {
		t.Errorf("%+v %v\n%s", all, err, r.log)
	}
}
