package host

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/audit"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/workspace"
)

func files(c *config.Config) {
	c.Skill.SendFile.Enabled, c.Metrics.Enabled = true, true
	c.Audit.Enabled, c.Audit.IncludedPhases = true, nil
}

func sendFile(paths string) script.Step {
	return script.Step{Call: "send-file", Args: []byte(`{"filePaths": [` + paths + `], "caption": "secret words"}`)}
}

// A file that an agent sends is the answer: no second prompt, and record and counts know of it.
func TestAnAgentSendsAFile(t *testing.T) {
	r := live(t, dir(t), files, script.Turn{Steps: []script.Step{sendFile(`"../../../../etc/passwd", "a.txt"`), sendFile(`"a.txt"`), sendFile(`"a.txt"`)}})
	r.net.files = true
	at, err := r.folders.Paths(workspace.Ref{Platform: "net", User: "ann", Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(at.Work, 0o700), os.WriteFile(filepath.Join(at.Work, "a.txt"), []byte("hello"), 0o600)); err != nil {
		t.Fatal(err)
	}
	r.hears(event("dm1", "ann", "send me the file"), chat.Accepted)
	r.says("dm1: a.txt=hello (secret words)")
	record := r.record()
	var sent []audit.FileSent
	for _, l := range record.Lines {
		switch e := l.Entry.(type) {
		case audit.FileSent:
			sent = append(sent, e)
		case audit.SessionEnd:
			if !e.Success || !e.FileSent || e.ReplySent {
				t.Errorf("%+v", e)
			}
		case audit.RetryTriggered:
			t.Error("the agent was prompted again")
		}
		if raw, err := json.Marshal(l.Entry); err != nil || strings.Contains(string(raw), "secret words") {
			t.Errorf("the record holds the caption: %s, %v", raw, err)
		}
	}
	if len(sent) != 1 || sent[0] != (audit.FileSent{FilesCount: 1, TotalBytes: 5, Platform: "net"}) {
		t.Errorf("%+v", sent)
	}
	if got := r.counts(`familiar_files_sent_total{app="familiar",platform="net"}`); got != "1" {
		t.Errorf("counted %s", got)
	}
	if left, err := os.ReadDir(filepath.Join(r.Instance.State(), "outgoing")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// The program of an operator's own skill may be run unasked, unless others are named; a tool of ours is none of them.
func TestProgramsOfSkills(t *testing.T) {
	at := dir(t)
	text := "---\nname: NAME\ndescription: browses\n---\n"
	for _, name := range []string{"agent-browser", "send-reply"} {
		if err := os.MkdirAll(filepath.Join(at, "skills", name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "skills", name, "SKILL.md"), []byte(strings.ReplaceAll(text, "NAME", name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := live(t, at, nil)
	for _, c := range []struct{ named, want []string }{{nil, []string{"agent-browser"}}, {[]string{"other"}, []string{"other"}}} {
		r.cfg.Agent.Skills.AutoApproveSkills = c.named
		if err := r.laySkills(); err != nil {
			t.Fatal(err)
		}
		policy := r.policy(chat.NewTurn(chat.Talk, event("dm1", "ann", "hi"), chat.Public, time.Now()), "sess_1", false)
		if !slices.Equal(policy.Commands, c.want) || !slices.Contains(r.laid, "agent-browser") {
			t.Errorf("%q: %q of %q", c.named, policy.Commands, r.laid)
		}
	}
}

// Skills of tools that are off are not laid out, and the tools are not there.
func TestSkillsFollowTheirTools(t *testing.T) {
	for _, on := range []bool{true, false} {
		r := live(t, dir(t), func(c *config.Config) { c.Skill.SendFile.Enabled, c.Companion.Reminders.Enabled = on, on })
		if err := r.laySkills(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"send-file", "set-reminder", "cancel-reminder", "list-reminders"} {
			_, err := os.Stat(filepath.Join(r.skills(), name, "SKILL.md"))
			if _, there := r.box.Find(name); there != on || (err == nil) != on || slices.Contains(r.toolNames(), name) != on {
				t.Errorf("%s: tool %v, text %v, want %v", name, there, err, on)
			}
		}
		if _, err := os.Stat(filepath.Join(r.skills(), "send-reply", "SKILL.md")); err != nil {
			t.Error(err)
		}
	}
}
