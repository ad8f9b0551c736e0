package serve

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent/loop"
	"familiar/internal/journal"
	"familiar/internal/llm"
)

func exchanged(t *testing.T, text string) loop.History {
	t.Helper()
	return loop.History{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text(text)}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.Text("yes")}}}}
}

// made keeps a session with some words in it, and returns its id.
func made(t *testing.T, s *store, words ...string) string {
	t.Helper()
	r, err := s.create("/here")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range words {
		if err := r.said(exchanged(t, w)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	return r.id
}

func opened(t *testing.T, s *store, id string) *record {
	t.Helper()
	r, err := s.open(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func folderOf(t *testing.T) *store {
	t.Helper()
	s, err := openStore(filepath.Join(t.TempDir(), "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatWasSaidIsKept(t *testing.T) {
	s := folderOf(t)
	id := made(t, s, "one", "two")
	r := opened(t, s, id)
	want := append(exchanged(t, "one").Messages, exchanged(t, "two").Messages...)
	if !reflect.DeepEqual(r.history.Messages, want) || r.cwd != "/here" {
		t.Errorf("kept %+v", r.summary)
	}
	info, err := os.Stat(s.path(id))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
}

func TestADamagedFileCostsWhatIsDamaged(t *testing.T) {
	s := folderOf(t)
	id := made(t, s, "one", "two")
	text, err := os.ReadFile(s.path(id))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[2] = "{\"said\":{\"version\":9}}\n\x00\x00garbage\n"
	if err := os.WriteFile(s.path(id), []byte(strings.Join(lines, "")+`{"said":{"ver`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := opened(t, s, id)
	if len(r.history.Messages) != 3 {
		t.Errorf("read %+v", r.history)
	}
	mended, repairs := loop.Repair(r.history)
	if !repairs.Any() || len(mended.Messages) != 4 {
		t.Errorf("mended %+v", mended)
	}
	if err := r.said(exchanged(t, "three")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path(id), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.open(id); err == nil {
		t.Error("a file without a first line was opened")
	}
}

func TestLongMessagesFit(t *testing.T) {
	long := strings.Repeat("a", journal.MaxLine)
	big := loop.History{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text(long), llm.Result{Call: "c", Text: long},
		llm.Image{MIME: "image/png", Data: []byte(long)}}}}}
	raw, err := fitted(big)
	if err != nil || len(raw) > journal.MaxLine {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	var back loop.History
	if err := json.Unmarshal(raw, &back); err != nil || len(back.Messages[0].Parts) != 3 {
		t.Errorf("%v, %v", back, err)
	}
	picture := loop.History{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text("see"), llm.Image{Data: []byte(long)}}}}}
	if raw, err = fitted(picture); err != nil || json.Unmarshal(raw, &back) != nil || back.Messages[0].Parts[0] != llm.Text("see") {
		t.Errorf("the words beside a picture: %v, %v", back, err)
	}
	if len(big.Messages[0].Parts[0].(llm.Text)) != journal.MaxLine {
		t.Error("the conversation itself was shortened")
	}
}

func TestOldSessionsGo(t *testing.T) {
	s := folderOf(t)
	old, inUse := made(t, s), made(t, s)
	fresh := made(t, s)
	past := time.Now().Add(-2 * longestKept)
	for _, id := range []string{old, inUse} {
		if err := os.Chtimes(s.path(id), past, past); err != nil {
			t.Fatal(err)
		}
	}
	opened(t, s, inUse)
	made(t, s)
	if _, err := s.open(old); !errors.Is(err, errNoSession) {
		t.Errorf("an old session is there: %v", err)
	}
	for _, id := range []string{inUse, fresh} {
		if _, err := os.Stat(s.path(id)); err != nil {
			t.Errorf("%s is gone: %v", id, err)
		}
	}
	for range mostKept + 5 {
		made(t, s)
	}
	if all, err := s.all(); err != nil || len(all) > mostKept+1 {
		t.Errorf("%d sessions are kept, %v", len(all), err)
	}
}

func TestOnlyTheNewExchangeIsKept(t *testing.T) {
	before := exchanged(t, "same")
	for name, c := range map[string]struct {
		after loop.History
		want  int
	}{
		"another exchange": {loop.History{Messages: append(before.Clone().Messages, exchanged(t, "same").Messages...)}, 2},
		"forgotten":        {before, 0},
		"the oldest went":  {exchanged(t, "new"), 2},
		"nothing is left":  {loop.History{}, 0},
		"with calls in it": {loop.History{Messages: append(before.Clone().Messages, called()...)}, 4},
	} {
		if got := newest(before, c.after); len(got.Messages) != c.want {
			t.Errorf("%s: %d messages, want %d", name, len(got.Messages), c.want)
		}
	}
}

func called() []llm.Message {
	return []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text("x")}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.Call{ID: "c", Name: "n", Input: json.RawMessage("{}")}}},
		{Role: llm.User, Parts: []llm.Part{llm.Result{Call: "c", Text: "r"}}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.Text("y")}}}
}

// FuzzSummary reads whatever from a session's file.
func FuzzSummary(f *testing.F) {
	f.Add([]byte(`{"version":1,"id":"ses_1","cwd":"/","at":"2026-01-02T03:04:05Z"}` + "\n"))
	f.Add([]byte(`{"said":{"version":1,"messages":[{"role":"user","parts":[{"type":"text","text":"x"},7]}]}}` + "\n{\"version\":2,\"id\":\"x\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s summary
		_, _ = journal.Scan(strings.NewReader(string(text)), s.read) // what is refused is refused
		if _, err := json.Marshal(s.history); err != nil {
			t.Fatal(err)
		}
		mended, _ := loop.Repair(s.history)
		if again, repairs := loop.Repair(mended); repairs.Any() {
			t.Fatalf("mended twice: %+v", again)
		}
	})
}
