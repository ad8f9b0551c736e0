package audit

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
)

// lay writes a record as a file.
func lay(t *testing.T, dir, person, session string, lines ...string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(person), session+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func line(second int, phase, data string) string {
	at := time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC)
	return `{"ts":"` + at.Format(iso) + `","phase":"` + phase + `","data":` + data + `}`
}

func TestRetell(t *testing.T) {
	r := newRig(t, func(c *Config) { c.IncludedPhases = nil })
	r.Open("turn_1", session, ann)
	for _, e := range []Entry{
		TriggerReceived{Platform: "discord", ChannelID: "c9", UserID: "1001", ContentLength: 42, AttachmentCount: 1},
		SessionStart{SessionID: session, SessionType: "message", WorkspaceKey: "discord/1001", AgentType: "OpenCode", Model: "x"},
		ContextAssembly{MemoriesCount: 1, RecentMessagesCount: 2, EstimatedTokens: 900},
		AgentConnect{AgentType: "OpenCode", Success: true, DurationMs: 120},
		PromptSent{PromptLength: 5000, ImageCount: 1, ModelID: "x"},
		AgentMessage{"hm", 2}, AgentMessage{"well", 4},
		NewSkillCall("memory-search", json.RawMessage(`{"query":"tea"}`), 12*time.Millisecond, nil),
		MemoryOperation{Operation: "search", Count: 3},
		NewSkillCall("send-reply", nil, time.Millisecond, errors.New("it is blank")),
		RetryTriggered{1, 1, "no_reply_sent"},
		PermissionDenied{"execute", "execute", "command"},
		NewReplySent(strings.Repeat("é", 120), "discord"),
		SessionEnd{Success: true, ReplySent: true, DurationMs: 3200},
	} {
		r.Note("turn_1", e)
	}
	r.Close("turn_1")
	record, err := Find(r.dir, session)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range record.Retell() {
		got = append(got, strings.TrimSpace(string(s.Mood)+" "+s.Text))
		if time.Since(s.At) > time.Hour {
			t.Errorf("%q happened %s", s.Text, s.At)
		}
	}
	want := []string{
		"heard 42 characters and 1 file from discord/1001, in c9",
		"began a session of type message with OpenCode (model x)",
		"gathered 1 memory and 2 recent messages, and 0 related ones: about 900 tokens",
		"reached OpenCode in 120ms",
		"asked the agent (model x) with 5000 characters and 1 picture",
		"quiet the agent wrote 6 characters",
		"called memory-search → 3 hits in 12ms",
		"bad called send-reply, which failed in 1ms: it is blank",
		"bad asks once more, 1 of 1 (no_reply_sent)",
		"bad refused the agent the use of execute (command)",
		"good replied 120 characters on discord",
		"good done in 3.2s: replied",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("told:\n%s", strings.Join(got, "\n"))
	}
	if record.Type != "message" || record.Calls != 2 || record.Replies != 1 || !record.Success || record.Took != 3200 || record.Person != "discord/1001" {
		t.Errorf("summed up as %+v", record)
	}
}

// Every phase has words of its own, and a decoder.
func TestEveryPhaseIsTold(t *testing.T) {
	for _, e := range everything() {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(lineJSON{time.Now().UTC().Format(iso), e.Phase(), data})
		if err != nil {
			t.Fatal(err)
		}
		l, err := parse(text)
		if err != nil || l.Entry == nil {
			t.Errorf("%s: %v", e.Phase(), err)
			continue
		}
		told := Record{Lines: []Line{l}}.Retell()
		if len(told) != 1 || told[0].Text == "" || told[0].Text == e.Phase() {
			t.Errorf("%s is told as %+v", e.Phase(), told)
		}
	}
	if len(decoders) != len(Phases()) {
		t.Errorf("%d decoders for %d phases", len(decoders), len(Phases()))
	}
}

func TestTornAndForeignLines(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, "discord/1001", "sess_a", line(1, "reply_sent", `{"replyLength":3,"platform":"discord"}`), "not JSON", "",
		line(2, "of_tomorrow", `{"x":1}`), line(3, "session_end", `[]`), `{"ts":"2026-01-02T03:04:05.0`)
	r, err := Find(dir, "sess_a")
	if err != nil || len(r.Lines) != 3 || r.Replies != 1 || r.Ended {
		t.Fatalf("%+v, %v", r, err)
	}
	told := r.Retell()
	if told[1].Text != "of_tomorrow" || told[2].Text != "session_end" {
		t.Errorf("told %+v", told)
	}
	out, err := json.Marshal(r.Lines)
	if err != nil || !strings.Contains(string(out), `{"ts":"2026-01-02T03:04:02.000Z","phase":"of_tomorrow","data":{"x":1}}`) {
		t.Errorf("as JSON: %s, %v", out, err)
	}
}

func TestListAndFind(t *testing.T) {
	dir := t.TempDir()
	end := line(9, "session_end", `{"success":false,"error":"gone","durationMs":1000}`)
	lay(t, dir, "discord/1001", "sess_b1", line(5, "reply_sent", `{}`), end)
	lay(t, dir, "discord/1001", "sess_a1", line(2, "reply_sent", `{}`))
	lay(t, dir, "misskey/ann~0011aabb", "sess_c2", line(7, "session_start", `{"workspaceKey":"misskey/Ann"}`))
	lay(t, dir, ".", "refused", `{}`)
	if err := os.Symlink(filepath.Join(dir, "discord"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want     Wanted
		sessions string
	}{
		{Wanted{}, "sess_a1 sess_c2 sess_b1"},
		{Wanted{Person: "discord/1001"}, "sess_a1 sess_b1"},
		{Wanted{Person: "1001"}, "sess_a1 sess_b1"},
		{Wanted{Person: "misskey/Ann"}, "sess_c2"},
		{Wanted{Person: "misskey/ann"}, "sess_c2"},
		{Wanted{Person: "discord/100"}, ""},
		{Wanted{Since: time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC)}, "sess_c2 sess_b1"},
	} {
		found, err := List(dir, c.want)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range found {
			names = append(names, r.Session)
		}
		if got := strings.Join(names, " "); got != c.sessions {
			t.Errorf("%+v: %q", c.want, got)
		}
	}
	for name, want := range map[string]string{"sess_a1": "sess_a1", "c2": "sess_c2", "sess_b": "sess_b1", "1": "", "sess_x": "", "": ""} {
		r, err := Find(dir, name)
		if r.Session != want || (err == nil) != (want != "") {
			t.Errorf("%q finds %q, %v", name, r.Session, err)
		}
	}
	if _, err := Find(dir, "sess_x"); !errors.Is(err, ErrNoRecord) {
		t.Error(err)
	}
	missing := filepath.Join(dir, "missing")
	if found, err := List(missing, Wanted{}); len(found) != 0 || err != nil {
		t.Error(found, err)
	}
}

func TestRefusalsAreTold(t *testing.T) {
	r := newRig(t, func(*Config) {})
	if all, err := Refusals(r.dir, Wanted{}); len(all) != 0 || err != nil {
		t.Error(all, err)
	}
	place := chat.Place{Platform: "discord", ID: "c9", Kind: chat.Group}
	for _, who := range []string{"7", "8"} {
		r.Refused(chat.Event{ID: "e1", Place: place, From: chat.Person{Platform: "discord", ID: who}, Body: chat.Said{Text: "let me in"}}, "policy")
	}
	if err := os.Rename(filepath.Join(r.dir, refusedFile), filepath.Join(r.dir, refusedFile+".1")); err != nil {
		t.Fatal(err)
	}
	lay(t, r.dir, ".", "refused", `{"ts":"2026-01-02T03:04:05.000Z","rule":"rate","from":"8","platform":"discord"}`, `{"ts":`)
	all, err := Refusals(r.dir, Wanted{})
	if err != nil || len(all) != 3 || all[2].Rule != "rate" {
		t.Fatal(all, err)
	}
	if got := all[0].Retell().Text; got != "turned away said of discord/7 in c9: the rule policy" {
		t.Errorf("told %q", got)
	}
	if one, err := Refusals(r.dir, Wanted{Person: "7"}); len(one) != 1 || err != nil {
		t.Error(one, err)
	}
}

// A session that runs, and of which nothing was written yet, began when its name says so.
func TestARecordWithoutLines(t *testing.T) {
	dir := t.TempDir()
	now := time.Now().UTC().Truncate(time.Millisecond)
	began := now.Add(-time.Minute)
	lay(t, dir, "discord/1001", "sess_"+strconv.FormatInt(began.UnixMilli(), 36)+"_00")
	lay(t, dir, "discord/1001", "foreign")
	found, err := List(dir, Wanted{Since: now.Add(-time.Hour)})
	if err != nil || len(found) != 2 || !found[0].Began.Equal(began) || found[1].Began.Before(began) {
		t.Errorf("%+v %v", found, err)
	}
}

// A list holds what it shows, and not everything that was ever written.
func TestAListHoldsNoLines(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, "discord/1001", "sess_x", line(1, "session_end", `{"success":true}`))
	found, err := List(dir, Wanted{})
	if err != nil || len(found) != 1 || !found[0].Ended || found[0].Lines != nil {
		t.Errorf("%+v %v", found, err)
	}
}
