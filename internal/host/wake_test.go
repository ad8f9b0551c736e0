package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/gate"
)

// An event of the clock that a crash cut off is forgotten, so that its job brings it again; one that was seen is done.
func TestAWakeThatWasCutOff(t *testing.T) {
	r, g := initiative(t, nil, reply("one"))
	ev := woke(chat.Place{Platform: "net", ID: "dm-ann", Kind: chat.Direct}, chat.Person{Platform: "net", ID: "ann"},
		chat.Woke{Job: chat.SpontaneousSession}, "slot")
	if _, err := r.inbox.Accept(t.Context(), ev); err != nil {
		t.Fatal(err)
	}
	if err := r.inbox.Begin(t.Context(), chat.NewTurn(chat.Wake, ev, chat.Owner, time.Now())); err != nil {
		t.Fatal(err)
	}
	if !r.reawake(t.Context(), ev) {
		t.Fatal("it is one of the clock")
	}
	if replied, err := r.wake(t.Context(), ev); !replied || err != nil {
		t.Fatal(replied, err)
	}
	if replied, err := r.wake(t.Context(), ev); !replied || err != nil || len(g.said()) != 1 {
		t.Error("a second time:", replied, err, g.said())
	}
}

// An event that was finished without a word to anybody is no reply when it comes again.
func TestAWakeThatCameToNothing(t *testing.T) {
	r, g := initiative(t, nil, silent())
	ev := woke(chat.Place{Platform: "net", ID: "dm-ann", Kind: chat.Direct}, chat.Person{Platform: "net", ID: "ann"},
		chat.Woke{Job: chat.SpontaneousSession}, "slot")
	for range 2 {
		if replied, _ := r.wake(t.Context(), ev); replied {
			t.Error("somebody got to see something:", g.said())
		}
	}
}

// killed copies what is on the disk, as a process that is killed now leaves it, and returns where to.
func (r *rig) killed() (dir string) {
	r.t.Helper()
	dir = r.t.TempDir()
	from := r.Instance.Dir
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		to := filepath.Join(dir, strings.TrimPrefix(path, from))
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(to, 0o700)
		case !e.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return dir
}

// recorded reports whether what became of everything that was said is on the disk.
func (r *rig) recorded() bool {
	r.t.Helper()
	var pending int
	if err := r.db.Read().QueryRowContext(r.t.Context(), `SELECT count(*) FROM outbox WHERE state = 'pending'`).Scan(&pending); err != nil {
		r.t.Fatal(err)
	}
	return pending == 0
}

// AF-162: a reminder is delivered at least once, whenever the program ends: in order or killed, while the agent thinks or
// when it has spoken. Only where nobody knows whether it arrived does it come twice.
func TestAReminderOutlivesTheProgram(t *testing.T) {
	wait := script.Step{Wait: true}
	for _, c := range []struct {
		name  string
		steps []script.Step
		loses int
		until string // what has happened when the program ends
		kill  bool
		want  string
	}{
		{"it ends while the agent thinks", []script.Step{wait}, 0, "", false, "dm-ann: again"},
		{"it is killed while the agent thinks", []script.Step{wait}, 0, "", true, "dm-ann: again"},
		{"it ends behind the answer", []script.Step{reply("once").Steps[0], wait}, 0, "dm-ann: once", false, ""},
		{"it is killed behind the answer", []script.Step{reply("once").Steps[0], wait}, 0, "dm-ann: once", true, ""},
		{"it is killed behind one that may be lost", []script.Step{reply("lost").Steps[0], wait}, 1, "", true, "dm-ann: again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			on := func(c *config.Config) {
				c.Companion.Reminders.Enabled, c.Companion.Reminders.CheckIntervalMs, c.Server.ShutdownMs = true, 20, 1
			}
			r := live(t, home, on, script.Turn{Steps: c.steps})
			r.net.mu.Lock()
			r.net.loses = c.loses
			r.net.mu.Unlock()
			r.dueReminder(0)
			r.until("the agent is at it", func() bool {
				r.net.mu.Lock()
				defer r.net.mu.Unlock()
				return r.agent.prompt(0) != "" && strings.Join(r.net.got, "|") == c.until && (c.loses == 0 || r.net.loses == 0) && r.recorded()
			})
			if c.kill {
				home = r.killed()
			}
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			r = live(t, home, on, reply("again"))
			ann := chat.Person{Platform: "net", ID: "ann"}
			r.until("it is done with", func() bool {
				it, err := r.reminders.Find(t.Context(), ann, "rem_1_a")
				return err == nil && !it.Enabled
			})
			if said := strings.Join(r.net.said(), "|"); said != c.want {
				t.Errorf("said %q, not %q\n%s", said, c.want, r.log)
			}
		})
	}
}

// A post that a crash cut off behind its words is made no second time, in another place neither.
func TestAPostIsMadeInOnePlace(t *testing.T) {
	entries := gate.Config{}
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		entries.Channels = append(entries.Channels, gate.Entry{ID: "misskey/account/" + id, SpontaneousPost: true})
	}
	r, g := initiativeOn(t, "misskey", nil, reply("hello"))
	r.gate.Reload(entries, nil)
	due := time.Now()
	for range 10 {
		if err := r.postIn("misskey")(t.Context(), due); err != nil {
			t.Fatal(err)
		}
	}
	if said := g.said(); len(said) != 1 {
		t.Error(said)
	}
}
