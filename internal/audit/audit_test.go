package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/setting"
)

var ann = chat.Person{Platform: "discord", ID: "1001"}

const session = "sess_m3x_0a1b"

type rig struct {
	*Book
	t       *testing.T
	dir     string
	logs    *strings.Builder
	counted map[string]int
}

func newRig(t *testing.T, change func(*Config)) rig {
	t.Helper()
	r := rig{t: t, dir: filepath.Join(t.TempDir(), "audit"), logs: new(strings.Builder), counted: map[string]int{}}
	var mu sync.Mutex // guards counted
	cfg := Defaults()
	cfg.Enabled = true
	change(&cfg)
	r.Book = New(cfg, Options{Dir: r.dir, Folder: func(platform, user string) string { return platform + "/" + user },
		Counted: func(phase string) { mu.Lock(); defer mu.Unlock(); r.counted[phase]++ }, Log: slog.New(slog.NewTextHandler(r.logs, nil))})
	t.Cleanup(func() { _ = r.Shut() })
	return r
}

// written is one line of a record, decoded.
type written struct {
	TS, Phase string
	Data      json.RawMessage
}

func (r rig) lines() []written {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, "discord", "1001", session+".jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	var all []written
	for text := range strings.Lines(string(data)) {
		if text == "\n" {
			continue // two turns that share a file may leave an empty line between theirs; reading passes over it
		}
		var w written
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			r.t.Fatalf("%s: %v", text, err)
		}
		all = append(all, w)
	}
	return all
}

func (r rig) phases() []string {
	var phases []string
	for _, w := range r.lines() {
		phases = append(phases, w.Phase)
	}
	return phases
}

// one of every phase, as a session may note them.
func everything() []Entry {
	return []Entry{
		TriggerReceived{Platform: "discord", MessageID: "m1", ContentLength: 5}, SessionStart{SessionID: session},
		RateLimitChecked{Allowed: true}, ContextAssembly{MemoriesCount: 2}, YoloResolution{Source: "default"},
		AgentConnect{Success: true}, PromptSent{PromptLength: 99}, AgentMessage{"hm", 2},
		NewSkillCall("memory-search", json.RawMessage(`{"query":"tea","limit":5}`), time.Second, nil),
		MemoryOperation{Operation: "search"}, AgentResponse{StopReason: "end_turn"}, AgentCompleteMessage{"well", 4},
		AgentCompleteThought{"oh", 2}, NewReplySent("hello", "discord"), NewReplyEdited("m2", "hello!", "discord"),
		FileSent{FilesCount: 1}, RetryTriggered{1, 1, "no_reply_sent"}, PermissionApproved{Tool: "read"},
		PermissionDenied{Tool: "bash"}, SessionEnd{Success: true, ReplySent: true},
	}
}

func (r rig) session() {
	r.Open("turn_1", session, ann)
	for _, e := range everything() {
		r.Note("turn_1", e)
	}
	r.Close("turn_1")
}

// AF-180
func TestNoPhasesMeansAll(t *testing.T) {
	r := newRig(t, func(c *Config) { c.IncludedPhases = nil })
	r.session()
	var want []string
	for _, e := range everything() {
		want = append(want, e.Phase())
	}
	if got := r.phases(); !slices.Equal(got, want) {
		t.Errorf("written %q", got)
	}
	if len(r.counted) != len(Phases()) {
		t.Errorf("counted %v", r.counted)
	}
	last := time.Time{}
	for _, w := range r.lines() {
		at, err := time.Parse(iso, w.TS)
		if err != nil || at.Before(last) {
			t.Errorf("%s after %s: %v", w.TS, last, err)
		}
		last = at
	}
}

// AF-181
func TestDefaultPhases(t *testing.T) {
	r := newRig(t, func(*Config) {})
	r.session()
	if got := r.phases(); !slices.Equal(got, []string{"skill_call", "reply_sent", "session_end"}) {
		t.Errorf("written %q", got)
	}
	if len(r.counted) != 3 || r.counted["skill_call"] != 1 {
		t.Errorf("counted %v", r.counted)
	}
	// The counts of the end are of all that happened, written or not.
	const end = `{"success":true,"replySent":true,"reactionSent":false,"fileSent":false,"durationMs":0,"repliesCount":1,` +
		`"skillCallsCount":1,"memoryOpsCount":1,"permissionDecisionsCount":2}`
	if got := string(r.lines()[2].Data); got != end {
		t.Errorf("the end is %s", got)
	}
	info, err := os.Stat(filepath.Join(r.dir, "discord", "1001", session+".jsonl"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// AF-182
func TestContentIsHashed(t *testing.T) {
	params := json.RawMessage(`{"content":"tea time","importance":"high","deep":[{"Query":"tea","id":"mem_1"}],"text":["tea"],` +
		`"message":"tea","replyContent":"tea","limit":5}`)
	call := NewSkillCall("memory-save", params, 1500*time.Millisecond, errors.New("disk is full"))
	r := newRig(t, func(c *Config) { c.IncludedPhases = nil })
	r.Open("turn_1", session, ann)
	for _, e := range []Entry{call, AgentCompleteMessage{"tea time", 8}, NewReplySent("tea time", "discord"),
		NewSkillCall("x", json.RawMessage(`{"content":"tea`), 0, nil), NewSkillCall("x", nil, 0, nil)} {
		r.Note("turn_1", e)
	}
	r.Close("turn_1")
	got := r.lines()
	hash := regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	for i, want := range []string{
		`{"skillName":"memory-save","skillParams":{"content":"H","importance":"high","deep":[{"Query":"H","id":"mem_1"}],"text":"H",` +
			`"message":"H","replyContent":"H","limit":5},"skillResult":{"success":false,"error":"disk is full"},"skillDurationMs":1500}`,
		`{"content":"H","length":8}`,
		`{"replyContentHash":"H","replyLength":8,"platform":"discord"}`,
		`{"skillName":"x","skillParams":"not JSON: H","skillResult":{"success":true},"skillDurationMs":0}`,
		`{"skillName":"x","skillParams":{},"skillResult":{"success":true},"skillDurationMs":0}`,
	} {
		data := string(got[i].Data)
		if strings.Contains(data, "tea") || hash.ReplaceAllString(data, "H") != want {
			t.Errorf("entry %d is %s", i, data)
		}
	}
	if !strings.Contains(string(got[1].Data), hashed([]byte("tea time"))) ||
		!strings.Contains(string(got[2].Data), hashed([]byte("tea time"))) {
		t.Error("one text has two hashes")
	}
}

func TestContentInPlain(t *testing.T) {
	r := newRig(t, func(c *Config) { c.HashContent = false })
	r.Open("turn_1", session, ann)
	r.Note("turn_1", NewSkillCall("memory-save", json.RawMessage(`{"content":"tea <time>"}`), 0, nil))
	r.Close("turn_1")
	if got := r.lines()[0]; !strings.Contains(string(got.Data), "tea ") {
		t.Errorf("the entry is %s", got.Data)
	}
}

// AF-183: a file stands where the folder should be, which stops root too.
func TestAFolderThatCannotBeWrittenIsAWarning(t *testing.T) {
	r := newRig(t, func(*Config) {})
	if err := os.WriteFile(r.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.session()
	r.Refused(chat.Event{ID: "e1"}, "allowlist")
	logs := r.logs.String()
	if strings.Count(logs, "level=WARN") != 2 || strings.Contains(logs, "level=ERROR") {
		t.Errorf("the log says %s", logs)
	}
	if r.counted["session_end"] != 1 {
		t.Errorf("counted %v", r.counted)
	}
}

func TestNamesThatAreNoNames(t *testing.T) {
	r := newRig(t, func(*Config) {})
	for _, name := range []string{"", "..", "../x", "a/b", `a\b`} {
		r.Open("turn_1", name, ann)
		r.Note("turn_1", SessionEnd{})
		r.Close("turn_1")
	}
	r.Open("turn_1", session, chat.Person{Platform: "..", ID: ".."})
	r.Close("turn_1")
	if _, err := os.Stat(r.dir); err == nil || strings.Count(r.logs.String(), "level=WARN") != 6 {
		t.Errorf("something was made, or not said: %s", r.logs)
	}
}

func TestDisabledIsNothing(t *testing.T) {
	var b *Book
	for _, book := range []*Book{b, New(Defaults(), Options{Dir: t.TempDir()})} {
		if book != nil {
			t.Error("a book that is not enabled is there")
		}
		book.Open("turn_1", session, ann)
		book.Note("turn_1", SessionEnd{})
		book.Close("turn_1")
		book.Refused(chat.Event{}, "self")
		if err := book.Shut(); err != nil {
			t.Error(err)
		}
	}
}

func TestATurnThatIsNotOpenHasNoRecord(t *testing.T) {
	r := newRig(t, func(*Config) {})
	r.Note("turn_1", SessionEnd{})
	r.session()
	r.Note("turn_1", SessionEnd{})
	if got := r.phases(); len(got) != 3 {
		t.Errorf("written %q", got)
	}
}

func TestTwoTurnsShareASession(t *testing.T) {
	r := newRig(t, func(c *Config) { c.IncludedPhases = nil })
	var wait sync.WaitGroup
	for n := range 4 {
		turn := chat.TurnID(fmt.Sprint("turn_", n))
		r.Open(turn, session, ann)
		wait.Go(func() {
			for i := range 50 {
				r.Note(turn, RetryTriggered{i, n, "no_reply_sent"})
			}
			r.Close(turn)
		})
	}
	wait.Wait()
	next := make([]int, 4)
	for _, w := range r.lines() {
		var e RetryTriggered
		if err := json.Unmarshal(w.Data, &e); err != nil || e.RetryCount != next[e.MaxRetries] {
			t.Fatalf("%s, %v", w.Data, err)
		}
		next[e.MaxRetries]++
	}
	if !slices.Equal(next, []int{50, 50, 50, 50}) {
		t.Errorf("written %v", next)
	}
}

func TestRefusedHoldsIdsAlone(t *testing.T) {
	r := newRig(t, func(*Config) {})
	place := chat.Place{Platform: "discord", ID: "c9", Kind: chat.Group}
	r.Refused(chat.Event{ID: "e1", Place: place, From: chat.Person{Platform: "discord", ID: "7", Name: "Bob"}, Message: "m1",
		Body: chat.Said{Text: "let me in"}}, "allowlist")
	data, err := os.ReadFile(filepath.Join(r.dir, "refused.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got refusedJSON
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := refusedJSON{got.TS, "allowlist", "e1", "said", "discord", "c9", "7", "m1"}
	if got != want || strings.Contains(string(data), "let me in") || strings.Contains(string(data), "Bob") {
		t.Errorf("refused.jsonl says %s", data)
	}
}

func TestConfig(t *testing.T) {
	for phase, problems := range map[string]int{"agent_message": 0, "skill_calls": 1} {
		cfg := Defaults()
		cfg.IncludedPhases = append(cfg.IncludedPhases, phase)
		var r setting.Report
		cfg.Check(r.At("audit"))
		if len(r.Problems()) != problems {
			t.Errorf("%s: %v", phase, r.Problems())
		}
	}
}
