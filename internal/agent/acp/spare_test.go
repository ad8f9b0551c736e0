package acp

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/tool"
	"familiar/internal/workspace"
)

// seated is an opening with a seat that has the tool note, for the session id; what was noted goes to the channel.
func seated(id, user string, at chat.PlaceKind) (agent.Opening, *tool.Seat, <-chan string) {
	type in struct {
		Text string `json:"text"`
	}
	noted := make(chan string, 8)
	box := tool.NewBox(nil, tool.New(tool.Tool{Name: "note", Doc: "Notes.", Effect: tool.Writes},
		func(_ context.Context, turn chat.Turn, n in) (in, error) {
			noted <- turn.From.ID + " " + n.Text
			return n, nil
		}))
	seat := box.Seat(id, []string{"note"}, func(string) {})
	return agent.Opening{Tools: seat, At: at, Workspace: workspace.Ref{Platform: "web", User: user, Session: id}}, seat, noted
}

// waiting returns the process that waits, once it is ready; there must be one.
func waiting(t *testing.T, a *Agent) *spare {
	t.Helper()
	a.mu.Lock()
	if len(a.spares) != 1 {
		t.Fatalf("%d processes wait, want 1", len(a.spares))
	}
	sp := a.spares[0]
	a.mu.Unlock()
	<-sp.ready
	if sp.made == nil {
		t.Fatal("the process that should wait did not start")
	}
	return sp
}

// warmed is an agent for which a process waits, after ann spoke in a direct place.
func warmed(t *testing.T, change func(*Config)) (*Agent, *spare) {
	t.Helper()
	cfg := quick()
	cfg.WarmSpare = 1
	if change != nil {
		change(&cfg)
	}
	server := doors(t)
	a := scripted(t, cfg, script.Script{Turns: []script.Turn{{On: "note", Steps: []script.Step{
		{Call: "note", Args: json.RawMessage(`{"text":"tea"}`)}}}, {On: "env", Steps: []script.Step{{Env: true}}}}},
		func(d *Deps) { d.Door = server.Admit })
	a.warm = cfg.WarmSpare // however little memory there is
	gone(t, a)
	o, _, _ := seated("sess_first", "ann", chat.Direct)
	s, err := a.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return a, waiting(t, a)
}

// processOf is the session in whose process s is.
func processOf(s agent.Session) *session {
	if c, ok := s.(*claimed); ok {
		return c.now.Load()
	}
	return s.(*session) // there are no others
}

func ref(user string) workspace.Ref { return workspace.Ref{Platform: "web", User: user} }

// The next session of the workspace is the process that waits: bound to its seat, with a HOME of its own.
func TestSpareIsClaimed(t *testing.T) {
	a, sp := warmed(t, nil)
	id := a.Session(ref("ann"), chat.Direct)
	if id != sp.session {
		t.Fatalf("the session is %s, and %s waits", id, sp.session)
	}
	if again := a.Session(ref("ann"), chat.Direct); again == id {
		t.Error("one id was given out twice")
	}
	o, seat, noted := seated(id, "ann", chat.Direct)
	s := open(t, a, o)
	if processOf(s) != sp.made || a.Living() != 1 {
		t.Errorf("another process was started; %d live", a.Living())
	}
	seat.Begin(t.Context(), turnOf("ann"))
	defer seat.End()
	ask(t, s, "note")
	if got := <-noted; got != "ann tea" {
		t.Errorf("noted %q", got)
	}
	if env := ask(t, s, "env").Said(); !strings.Contains(env, "SESSION_ID="+id) || !strings.Contains(env, id+".home") {
		t.Errorf("the environment is of another session:\n%s", env)
	}
}

// A process that waits serves nobody else, and no other kind of place: not a group for a direct message.
func TestSpareIsNobodyElses(t *testing.T) {
	a, sp := warmed(t, nil)
	for name, id := range map[string]string{
		"another person":        a.Session(ref("bob"), chat.Direct),
		"another kind of place": a.Session(ref("ann"), chat.Group),
		"another platform":      a.Session(workspace.Ref{Platform: "discord", User: "ann"}, chat.Direct),
		"one that may write":    a.Session(workspace.Ref{Platform: "web", User: "ann", Notes: true}, chat.Direct),
	} {
		if id == sp.session {
			t.Errorf("%s got the process of ann", name)
		}
	}
	o, _, _ := seated(sp.session, "ann", chat.Group) // by its id, and yet for a group
	s := open(t, a, o)
	if processOf(s) == sp.made {
		t.Error("a group got the process of a direct message")
	}
	<-sp.made.over
}

// Whoever speaks last has the process that waits; no call through it is answered before somebody sits there.
func TestSpareFollowsWhoSpoke(t *testing.T) {
	a, sp := warmed(t, nil)
	if _, err := sp.place.Call(t.Context(), "note", json.RawMessage(`{"text":"x"}`)); err == nil {
		t.Error("a call counted before the place was taken")
	}
	o, _, _ := seated(a.Session(ref("bob"), chat.Direct), "bob", chat.Direct)
	s, err := a.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if next := waiting(t, a); next.key.user != "bob" {
		t.Errorf("it waits for %s", next.key.user)
	}
	<-sp.made.over
}

// The cap counts those that wait, and they give way: the oldest is let go for a session.
func TestSpareGivesWay(t *testing.T) {
	a, sp := warmed(t, func(cfg *Config) { cfg.MaxProcesses = 1 })
	if a.Living() != 1 {
		t.Fatalf("%d live", a.Living())
	}
	o, _, _ := seated("sess_bob", "bob", chat.Direct)
	open(t, a, o)
	<-sp.made.over
	if a.Living() != 1 {
		t.Errorf("%d live, and 1 may", a.Living())
	}
}

// One that died while it waited is not used and leaves nothing, though its id was given out and it is not gone yet.
func TestSpareDied(t *testing.T) {
	a, sp := warmed(t, nil)
	id := a.Session(ref("ann"), chat.Direct)
	tidying, tidy, shut := make(chan struct{}), make(chan struct{}), sp.made.door.Close
	sp.made.door.Close = func() { close(tidying); <-tidy; shut() }
	sp.made.conn.fail(errStuck)
	<-tidying
	claimed := func() bool { a.mu.Lock(); defer a.mu.Unlock(); return len(a.spares) == 0 }
	if claimed() {
		t.Error("whoever was given its id does not find it any more")
	}
	opened := make(chan agent.Session)
	go func() {
		o, _, _ := seated(id, "ann", chat.Direct)
		s, err := a.Open(t.Context(), o)
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	for !claimed() {
		runtime.Gosched()
	}
	close(tidy)
	s := <-opened
	if s == nil {
		t.FailNow()
	}
	if processOf(s) == sp.made {
		t.Error("a dead process was used")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(sp.made.stand.Home); err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}

// One that does not get ready is not waited for: it is ended, and another serves.
func TestSpareHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, made := faked(t, quick(), quiet())
		a.warm = 1
		hung := make(chan *fake, 1)
		go func() {
			f := <-made
			go f.serve()
			f = <-made // the one that waits says nothing at all
			f.next()
			hung <- f
			go (<-made).serve()
		}()
		o, _, _ := seated("sess_1", "ann", chat.Direct)
		s, err := a.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		f := <-hung
		begun := time.Now()
		o, _, _ = seated(a.Session(ref("ann"), chat.Direct), "ann", chat.Direct)
		if _, err = a.Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begun); waited != spareWait {
			t.Errorf("it was waited for %s, want %s", waited, spareWait)
		}
		<-f.done
		if a.Living() != 1 {
			t.Errorf("%d live", a.Living())
		}
		a.warm = 0
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
}

// One that waits for too long is ended, and so is one whose id was given out for nothing.
func TestSpareIdles(t *testing.T) {
	for name, c := range map[string]struct {
		promised bool
		limit    time.Duration
	}{"idle": {false, spareIdle}, "promised": {true, promiseTime}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, made := faked(t, quick(), quiet())
				a.warm = 1
				go func() {
					for range 2 { // the session, and the process that waits after it
						f := <-made
						go f.serve()
					}
				}()
				o, _, _ := seated("sess_1", "ann", chat.Direct)
				s, err := a.Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if c.promised {
					a.Session(ref("ann"), chat.Direct)
				}
				time.Sleep(c.limit - time.Second)
				synctest.Wait()
				if a.Living() != 1 {
					t.Errorf("%d live before the time is over", a.Living())
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if a.Living() != 0 {
					t.Errorf("%d live after it", a.Living())
				}
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Where there is little memory nothing waits.
func TestSparesByMemory(t *testing.T) {
	cfg := Config{WarmSpare: 2}
	for memory, want := range map[uint64]int{2 << 30: 0, 4<<30 - 1: 0, 4 << 30: 2, 0: 2} {
		if got := cfg.spares(memory); got != want {
			t.Errorf("%d bytes: %d, want %d", memory, got, want)
		}
	}
}
