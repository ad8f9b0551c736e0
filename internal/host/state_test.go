package host

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/clock"
	"familiar/internal/config"
	"familiar/internal/kv"
	"familiar/internal/memory"
	"familiar/internal/platform/discord"
	"familiar/internal/platform/misskey"
	"familiar/internal/research"
	"familiar/internal/state"
)

// A new machine has, after a start with nothing but the configuration, what the old one had: memories, reminders, who
// is admitted, notes and drafts, and when what comes due by itself is due. A code that waits is not among it.
func TestABotMovesToAnotherMachine(t *testing.T) {
	remote, at := filepath.Join(t.TempDir(), "remote.git"), feed(t)
	if out, err := exec.Command("git", "init", "--quiet", "--bare", remote).CombinedOutput(); err != nil {
		t.Skipf("there is no git: %s", out)
	}
	set := func(c *config.Config) {
		c.Companion.Reminders.Enabled, c.Companion.MemoryMaintenance.Enabled = true, true
		own := &c.Companion.SelfResearch
		own.Enabled, own.Model, own.RSSFeeds = true, "m", []research.Feed{{URL: at}}
		c.GitBackup.Enabled, c.GitBackup.RemoteURL = true, remote
		c.Access.Pairing = true
	}
	old := live(t, dir(t), set, noting())
	ann := chat.Person{Platform: "net", ID: "ann", Name: "Ann"}
	if _, err := old.memory.Save(t.Context(), ann, true, memory.Draft{Content: "likes ferns"}); err != nil {
		t.Fatal(err)
	}
	if _, err := old.reminders.Set(t.Context(), ann, "dm-ann", time.Now().Add(time.Hour), "water the ferns"); err != nil {
		t.Fatal(err)
	}
	place := chat.Place{Platform: "net", ID: "dm-ann", Kind: chat.Direct}
	code, err := old.people.Offer(t.Context(), ann, place)
	if err == nil {
		_, err = old.people.Admit(t.Context(), code, chat.Person{Platform: "net", ID: "owner"})
	}
	if err == nil {
		_, err = old.people.Offer(t.Context(), chat.Person{Platform: "net", ID: "eve"}, place)
	}
	if err != nil {
		t.Fatal(err)
	}
	old.researches()
	planned := times(old.clock.States())
	values, err := kv.NewSQLite(t.Context(), old.db, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{discord.Marks + "1", misskey.Marks + "us", "lurk:discord:1"} {
		if err := values.Save(t.Context(), key, "1", 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.stop(); err != nil {
		t.Fatal(err)
	}
	// How far the networks were heard is older in a copy than what was answered since.
	kept, err := os.ReadFile(filepath.Join(old.Instance.Dir, "data", state.File))
	if err != nil || strings.Contains(string(kept), discord.Marks) || strings.Contains(string(kept), misskey.Marks) || !strings.Contains(string(kept), "lurk:discord:1") {
		t.Errorf("%v: %s", err, kept)
	}

	fresh := live(t, dir(t), set)
	if all, err := fresh.memory.All(t.Context(), ann, true); err != nil || len(all) != 1 || all[0].Content != "likes ferns" {
		t.Errorf("memories: %+v %v\n%s", all, err, fresh.log)
	}
	if all, err := fresh.reminders.Active(t.Context(), ann); err != nil || len(all) != 1 || all[0].Message != "water the ferns" {
		t.Errorf("reminders: %+v %v", all, err)
	}
	if people, waiting := fresh.people.People(); len(people) != 1 || people[0].Person.ID != "ann" || waiting != 0 {
		t.Errorf("people: %+v, %d codes wait", people, waiting)
	}
	if all, err := fresh.drafts.Waiting(); err != nil || len(all) != 1 || all[0].Name() != "green-tea" {
		t.Errorf("drafts: %+v %v", all, err)
	}
	got := times(fresh.clock.States())
	for _, name := range []string{"selfResearch", "memoryMaintenance"} {
		if !got[name].Equal(planned[name]) || planned[name].IsZero() {
			t.Errorf("%s was due at %s, now at %s", name, planned[name], got[name])
		}
	}
}

func times(all []clock.State) map[string]time.Time {
	next := map[string]time.Time{}
	for _, s := range all {
		next[s.Name] = s.Next.Truncate(time.Millisecond)
	}
	return next
}

// AF-175: what comes due again and again makes no new copy for its own sake.
func TestTheStateStaysAsItIs(t *testing.T) {
	r := live(t, t.TempDir(), func(c *config.Config) {
		c.Companion.Reminders.Enabled, c.Companion.MemoryMaintenance.Enabled = true, true
	})
	if err := r.keepState(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, broken, err := state.Read(filepath.Join(filepath.Dir(r.folders.Notes()), state.File))
	if err != nil || broken != 0 || len(s.Clock) != 1 || s.Clock[0].Name != "memoryMaintenance" {
		t.Errorf("%+v %d %v", s, broken, err)
	}
	for _, e := range s.KV {
		if strings.Contains(e.Key, "offer") {
			t.Error(e.Key)
		}
	}
}

// A remote repository that takes the connection and says nothing keeps no bot from ending.
func TestALastBackupThatHangs(t *testing.T) {
	var leaving atomic.Bool
	asked := make(chan struct{}, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !leaving.Load() {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		asked <- struct{}{}
		<-q.Context().Done()
	}))
	defer server.Close()
	at := dir(t)
	if err := os.MkdirAll(filepath.Join(at, "data", "agent-workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := live(t, at, func(c *config.Config) {
		c.Server.ShutdownMs = 1
		c.GitBackup.Enabled, c.GitBackup.RemoteURL = true, server.URL+"/x.git"
	})
	r.until("the first backup failed", func() bool {
		return slices.ContainsFunc(r.clock.States(), func(s clock.State) bool { return s.Name == "gitBackup" && s.Misses > 0 })
	})
	leaving.Store(true)
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if len(asked) != 1 || !strings.Contains(r.log.String(), "the last backup failed") {
		t.Error(len(asked), r.log)
	}
}
