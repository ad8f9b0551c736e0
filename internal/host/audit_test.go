package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/script"
	"familiar/internal/audit"
	"familiar/internal/chat"
	"familiar/internal/config"
)

// everyPhase records everything, of people whose rate is limited.
func everyPhase(c *config.Config) {
	c.Audit.Enabled, c.Audit.IncludedPhases = true, nil
	c.Access.RateLimit.Enabled = true
	c.Agent.Model = "m-1"
}

// AF-180: of the phases that a message can meet, each is written where it happens, and in order; files
// have a test of their own.
func TestASessionWritesEveryPhase(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(command string) script.Step {
		input, _ := json.Marshal(map[string]string{"command": command}) // a map of strings is always JSON
		return script.Step{Ask: &agent.Ask{Call: command, Title: "run it", Kind: agent.KindExecute, RawInput: input,
			Options: []agent.Option{{ID: "yes", Kind: agent.AllowOnce}, {ID: "no", Kind: agent.RejectOnce}}}}
	}
	r := live(t, dir(t), everyPhase,
		script.Turn{Steps: []script.Step{{Think: "it wants tea"}, {Say: "let me see"},
			use("memory-save", map[string]string{"content": "ann likes tea"}), use("memory-search", map[string]string{"query": "tea"}),
			ask("rm -rf /"), ask(self + " skill memory-search --query-file q.txt")}},
		reply("so you like tea"))
	r.hears(event("dm1", "ann", "I like tea"), chat.Accepted)
	r.says("dm1: so you like tea")
	record := r.record()
	var phases []string
	for _, l := range record.Lines {
		phases = append(phases, l.Phase)
	}
	want := []string{"trigger_received", "session_start", "rate_limit_checked", "yolo_resolution", "agent_connect", "context_assembly",
		"prompt_sent", "agent_message", "skill_call", "memory_operation", "skill_call", "memory_operation", "permission_denied",
		"permission_approved", "agent_complete_message", "agent_complete_thought", "agent_response", "retry_triggered", "prompt_sent", "reply_sent", "skill_call",
		"agent_response", "session_end"}
	if !slices.Equal(phases, want) {
		t.Errorf("written %q", phases)
	}
	for _, l := range record.Lines {
		switch e := l.Entry.(type) {
		case audit.MemoryOperation:
			if e.Operation == "save" && e.MemoryID == "" || e.Operation == "search" && e.Count != 1 || e.Visibility != "private" {
				t.Errorf("%+v", e)
			}
		case audit.SessionEnd:
			if !e.Success || e.SkillCallsCount != 3 || e.MemoryOpsCount != 2 || e.RepliesCount != 1 {
				t.Errorf("%+v", e)
			}
		case audit.AgentCompleteMessage:
			if e.Length != len("let me see") {
				t.Errorf("%+v", e)
			}
		}
	}
	told := record.Retell()
	for _, words := range []string{"heard 10 characters from net/ann, in private", "with script (model m-1)", "memory-search → 1 hit in ",
		"replied 15 characters on net"} {
		if !slices.ContainsFunc(told, func(s audit.Sentence) bool { return strings.Contains(s.Text, words) }) {
			t.Errorf("nothing tells %q: %+v", words, told)
		}
	}
	for _, said := range []string{"tea", "let me see", "rm -rf"} {
		if strings.Contains(r.records(), said) {
			t.Errorf("the record says %q", said)
		}
	}
}

// record is the one record that there is.
func (r *rig) record() audit.Record {
	r.t.Helper()
	dir := filepath.Join(r.Instance.Dir, "data", audit.Folder)
	var all []audit.Record
	r.until("the session is recorded to its end", func() bool {
		var err error
		if all, err = audit.List(dir, audit.Wanted{}); err != nil {
			r.t.Fatal(err)
		}
		return len(all) == 1 && all[0].Ended
	})
	whole, err := audit.Find(dir, all[0].Session)
	if err != nil {
		r.t.Fatal(err)
	}
	return whole
}

func TestAnEditedReplyIsRecorded(t *testing.T) {
	r := live(t, dir(t), everyPhase)
	turn := chat.NewTurn(chat.Talk, event("dm1", "ann", "hi"), chat.Public, time.Now())
	r.audit.Open(turn.ID, "sess_edit", turn.From)
	r.delivered(turn, chat.Edit{Place: turn.Place, Message: "b1", Text: "hello"}, chat.Receipt{}, nil)
	r.audit.Note(turn.ID, audit.SessionEnd{})
	r.audit.Close(turn.ID)
	if e, ok := r.record().Lines[0].Entry.(audit.ReplyEdited); !ok || e.MessageID != "b1" || e.ReplyLength != 5 {
		t.Errorf("recorded %+v", e)
	}
}

// AF-181: without a word about phases, three of them are written.
func TestASessionWritesTheDefaultPhases(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) { c.Audit.Enabled = true }, reply("hi"))
	r.hears(event("dm1", "ann", "hello"), chat.Accepted)
	r.says("dm1: hi")
	var phases []string
	for _, l := range r.record().Lines {
		phases = append(phases, l.Phase)
	}
	slices.Sort(phases)
	if !slices.Equal(phases, []string{"reply_sent", "session_end", "skill_call"}) {
		t.Errorf("written %q", phases)
	}
}

// AF-183: a file stands where the folder of records should be.
func TestASessionWithoutARecordSucceeds(t *testing.T) {
	d := dir(t)
	r := live(t, d, everyPhase, reply("hi"))
	if err := os.WriteFile(filepath.Join(r.Instance.Dir, "data", audit.Folder), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.hears(event("dm1", "ann", "hello"), chat.Accepted)
	r.says("dm1: hi")
	r.until("the turn is over", func() bool { return strings.Contains(r.log.String(), "msg=turn ") })
	if log := r.log.String(); !strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") {
		t.Errorf("the log says %s", log)
	}
}

// AF-179: what is too old goes at the start.
func TestOldRecordsGoAtTheStart(t *testing.T) {
	d := dir(t)
	old := filepath.Join(d, "data", audit.Folder, "net", "ann", "sess_old.jsonl")
	if err := os.MkdirAll(filepath.Dir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(map[string]string{"phase": "session_end"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, line, 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().AddDate(0, 0, -8)
	if err := os.Chtimes(old, at, at); err != nil {
		t.Fatal(err)
	}
	r := live(t, d, func(c *config.Config) { c.Audit.Enabled = true })
	r.until("the old record is gone", func() bool {
		_, err := os.Stat(filepath.Join(d, "data", audit.Folder, "net"))
		return os.IsNotExist(err)
	})
}
