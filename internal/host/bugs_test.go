package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent/acp"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/phrase"
	"familiar/internal/process"
)

// processes makes the agent one whose processes play s.
func (r *rig) processes(s script.Script) *acp.Agent {
	r.t.Helper()
	if _, err := process.Confinable(); err != nil {
		r.t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	cfg := r.cfg.Agent.Config
	if cfg.Env, err = script.Environment(s); err != nil {
		r.t.Fatal(err)
	}
	cfg.Env["GORACE"] = "atexit_sleep_ms=0"
	cfg.Command, cfg.CancelGraceMs, cfg.WarmSpare = self, 50, 0
	deps, err := r.agentDeps()
	if err != nil {
		r.t.Fatal(err)
	}
	external, err := acp.New(cfg, acp.Custom(cfg), deps)
	if err != nil {
		r.t.Fatal(err)
	}
	r.agent.Agent = external
	r.t.Cleanup(func() {
		if err := external.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return external
}

// BUG-D16 BUG-F07: an agent that does not end its turn when it is stopped is killed, the person is told once, and the
// message after that is answered by another.
func TestAMessageAfterAStop(t *testing.T) {
	r := live(t, dir(t), nil)
	answer := reply("here again")
	answer.On = "SECOND-THING"
	external := r.processes(script.Script{Moods: script.Moods{IgnoreCancel: true}, Turns: []script.Turn{answer,
		{On: "FIRST-THING", Steps: []script.Step{{Say: "waiting"}, {Wait: true}}}}})
	r.hears(event("dm1", "ann", "FIRST-THING"), chat.Accepted)
	r.until("it thinks", func() bool { return strings.Contains(r.agent.prompt(0), "FIRST-THING") })
	r.hears(event("dm1", "ann", "/stop"), chat.Accepted)
	r.hears(event("dm1", "ann", "SECOND-THING"), chat.Accepted)
	r.says("dm1: "+r.phrase(phrase.Stopped), "dm1: here again")
	if n := external.Living(); n != 0 {
		t.Errorf("%d agents live", n)
	}
}

// BUG-F01: the conversation is cut while a turn runs. The next message goes to a session of its own, which knows nothing
// of before; the end of the old turn takes nothing away from it.
func TestACutWhileATurnRuns(t *testing.T) {
	hold := make(chan struct{})
	fresh := reply("new")
	fresh.On = "SECOND-THING"
	r := live(t, dir(t), nil, fresh, script.Turn{On: "FIRST-THING", Steps: []script.Step{{Until: hold},
		use("send-reply", map[string]string{"message": "old"})}})
	r.hears(event("dm1", "ann", "FIRST-THING"), chat.Accepted)
	r.until("it thinks", func() bool { return strings.Contains(r.agent.prompt(0), "FIRST-THING") })
	r.hears(event("dm1", "ann", "/clear"), chat.Accepted)
	r.hears(event("dm1", "ann", "SECOND-THING"), chat.Accepted)
	close(hold)
	r.until("both are answered", func() bool { return len(r.net.said()) == 2 })
	r.hears(event("dm1", "ann", "SECOND-THING once more"), chat.Accepted)
	r.says("dm1: old", "dm1: new", "dm1: new")
	if got := r.agent.prompt(1); !strings.Contains(got, "SECOND-THING") || strings.Contains(got, "FIRST-THING") {
		t.Errorf("the prompt after the cut: %s", got)
	}
	r.until("nothing is left", func() bool { return r.agent.Agent.(*script.Agent).Living() == 0 })
}

// BUG-F09: ids are whatever a network says. None of them is a path: everything lies where it belongs, apart from what
// belongs to others, and the words reach the place of that very id.
func TestIDsAreNoPaths(t *testing.T) {
	base := t.TempDir()
	d := filepath.Join(base, "deep", "deeper", "bot")
	remember := script.Turn{Steps: []script.Step{
		use("memory-save", map[string]string{"content": "tea", "importance": "high"}),
		use("send-reply", map[string]string{"message": "noted"})}}
	r := live(t, d, func(c *config.Config) { c.Audit.Enabled = true }, remember)
	people := []string{"a/b", `a\b`, "../../../../up", "/etc/passwd", ".."}
	var want []string
	for _, who := range people {
		place := "dm/../../../topic/" + who
		ev := event(place, who, "hello")
		ev.Message = chat.MessageID("../m/" + who)
		ev.ID = chat.NewEventID("us", ev.Place, chat.KindSaid, string(ev.Message), "")
		r.hears(ev, chat.Accepted)
		want = append(want, place+": noted")
		r.says(want...)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(base, func(path string, _ fs.DirEntry, err error) error {
		inside, relErr := filepath.Rel(path, d) // what leads to d
		_, below := strings.CutPrefix(path, d)
		if !below && (relErr != nil || !filepath.IsLocal(inside)) {
			t.Errorf("%s lies outside of the bot's directory", path)
		}
		if strings.Contains(path, `\`) || strings.Contains(path, "topic") {
			t.Errorf("%s is named after an id", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, records := range []string{"workspaces", "audit"} {
		kept, err := filepath.Glob(filepath.Join(d, "data", records, "net", "*", "*.jsonl"))
		folders := map[string]bool{}
		for _, path := range kept {
			folders[filepath.Dir(path)] = true
		}
		if err != nil || len(folders) != len(people) {
			t.Errorf("%s: %d people have %d folders: %v, %v", records, len(people), len(folders), kept, err)
		}
	}
}
