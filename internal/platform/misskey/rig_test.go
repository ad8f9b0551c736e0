package misskey

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/chat"
	"familiar/internal/kv"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/misskeytest"
	"familiar/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wait is a limit for what hangs, not a measure.
const wait = 15 * time.Second

// rig is a platform that runs on a fake instance, and what it made heard.
type rig struct {
	*Misskey
	*misskeytest.Instance
	t     *testing.T
	store kv.Store
	ann   misskeytest.User

	mu      sync.Mutex
	events  []chat.Event
	outcome func(chat.Event) chat.Outcome
	changed chan struct{}
	ups     atomic.Int32 // how often it was connected
	cancel  context.CancelFunc
	ended   chan error
}

// newRig makes a rig that does not run yet. The fake must have nothing to complain of at the end.
func newRig(t *testing.T) *rig {
	t.Helper()
	in := misskeytest.Start()
	r := &rig{Instance: in, t: t, store: kv.NewMemory(time.Now), changed: make(chan struct{})}
	r.ann = in.User("ann", "Ann", false)
	r.again()
	t.Cleanup(func() {
		r.stop()
		in.Close()
		for _, fault := range in.Faults() {
			t.Errorf("the instance complains: %s", fault)
		}
	})
	return r
}

// again makes the platform anew, as a new process would.
func (r *rig) again() {
	cfg := Defaults()
	cfg.Enabled, cfg.Host, cfg.Secure, cfg.Token = true, r.Host(), false, secret.New(misskeytest.Token)
	r.Misskey = New(cfg, Deps{Log: slog.New(slog.DiscardHandler), Store: r.store})
}

// connected returns a rig that runs and is subscribed.
func connected(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.start()
	return r
}

func (r *rig) start() {
	r.t.Helper()
	was := r.ups.Load()
	r.run()
	r.until("the stream is subscribed", func() bool { return r.Streams() == 1 && r.ups.Load() > was })
}

// run keeps the platform running as platform.Keep does, without its waits.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(r.t.Context())
	r.cancel, r.ended = cancel, make(chan error, 1)
	m, ended := r.Misskey, r.ended
	go func() {
		for {
			err := m.Run(ctx, r.hear, func() { r.ups.Add(1) })
			var fatal platform.Fatal
			if ctx.Err() != nil || errors.As(err, &fatal) {
				ended <- err
				return
			}
		}
	}()
}

// stop ends the run and returns what the keeper says.
func (r *rig) stop() (err error) {
	if r.ended != nil {
		r.cancel()
		err = <-r.ended
		r.ended = nil
	}
	return err
}

func (r *rig) hear(_ context.Context, ev chat.Event) chat.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	outcome := chat.Accepted
	if r.outcome != nil {
		outcome = r.outcome(ev)
	}
	if outcome == chat.Accepted && slices.ContainsFunc(r.events, func(e chat.Event) bool { return e.ID == ev.ID }) {
		outcome = chat.Repeat
	}
	if outcome == chat.Accepted {
		r.events = append(r.events, ev)
	}
	close(r.changed)
	r.changed = make(chan struct{})
	return outcome
}

// heard returns the events that were heard, each once.
func (r *rig) heard() []chat.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// texts returns the words of what was heard.
func (r *rig) texts() (all []string) {
	for _, ev := range r.heard() {
		all = append(all, ev.Text())
	}
	return all
}

// until waits for a condition of the instance or of what was heard.
func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	limit := time.After(wait)
	for {
		r.mu.Lock()
		heard, changed := r.changed, r.Changed()
		r.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-heard:
		case <-changed:
		case <-time.After(20 * time.Millisecond): // what subscribes changes nothing that could be waited for
		case <-limit:
			r.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// mention lets Ann mention the bot and returns what was heard.
func (r *rig) mention(d misskeytest.Draft) chat.Event {
	r.t.Helper()
	return r.event(r.Write(r.ann, d).ID)
}

// event waits for what was heard of a message.
func (r *rig) event(message string) (ev chat.Event) {
	r.t.Helper()
	r.until("the message is heard", func() bool {
		all := r.heard()
		at := slices.IndexFunc(all, func(e chat.Event) bool { return string(e.Message) == message })
		if at >= 0 {
			ev = all[at]
		}
		return at >= 0
	})
	return ev
}

// do does a and fails the test when that fails.
func (r *rig) do(a chat.Action) chat.Receipt {
	r.t.Helper()
	receipt, err := r.Do(r.t.Context(), a)
	if err != nil {
		r.t.Fatalf("Do(%T): %v", a, err)
	}
	return receipt
}

// ours returns the notes of the bot.
func (r *rig) ours() (all []misskeytest.Note) {
	for _, n := range r.Notes() {
		if n.UserID == r.Me().ID {
			all = append(all, n)
		}
	}
	return all
}

// said returns the texts of the bot's messages in the chat with Ann.
func (r *rig) said() (all []string) {
	for _, c := range r.Chats() {
		if c.FromUserID == r.Me().ID && c.Text != nil {
			all = append(all, *c.Text)
		}
	}
	return all
}
