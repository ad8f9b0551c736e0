package misskey

import (
	"context"
	"errors"
	"fmt"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/api"
)

// Run learns who we are, listens on the stream until ctx ends or the stream is lost, and hands in, before all else,
// what was said while nobody listened. When it returns, nothing of the connection is left; whoever keeps the platform
// runs it again, and nobody else does.
func (m *Misskey) Run(ctx context.Context, hear chat.Hear, up func()) error {
	defer m.api.CloseIdle()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if err := m.begin(fail); err != nil {
		return err
	}
	defer m.end()
	err := m.listen(ctx, hear, up)
	switch cause := context.Cause(ctx); {
	case ctx.Err() == nil:
		return err
	case errors.Is(cause, context.Canceled):
		return nil
	default:
		return cause
	}
}

func (m *Misskey) begin(fail context.CancelCauseFunc) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return platform.Fatal{Err: errors.New("the platform misskey runs already")}
	}
	m.fail = fail
	return nil
}

func (m *Misskey) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = nil
}

// abort ends the run when something showed that it cannot go on, as a token that was revoked.
func (m *Misskey) abort(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		m.fail(err)
	}
}

func (m *Misskey) listen(ctx context.Context, hear chat.Hear, up func()) error {
	if err := m.meet(ctx); err != nil {
		return err
	}
	m.measure(ctx)
	if err := m.since.load(ctx, m.self().key()); err != nil {
		return err
	}
	s, err := m.api.Subscribe(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	up()
	l := &listener{Misskey: m, stream: s, hear: hear}
	l.watchAgain(ctx)
	l.catchUp(ctx)
	s.Start(ctx, m.beat, m.patience)
	defer l.keep(ctx)
	return l.follow(ctx, s)
}

// meet asks the instance who we are.
func (m *Misskey) meet(ctx context.Context) error {
	u, err := api.Call[user](ctx, m.api, "i", api.Nothing{})
	if err != nil {
		err = api.Judge(err, false)
		if api.Is(err, "PERMISSION_DENIED") {
			err = platform.Fatal{Err: err}
		}
		return fmt.Errorf("ask the instance who we are: %w", err)
	}
	if !api.IsID(u.ID) || u.Username == "" {
		return errors.New("ask the instance who we are: the answer names no account; is platforms.misskey.host an instance of Misskey?")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.me = account{ID: u.ID, Username: u.Username, Name: u.Name.V, Host: m.cfg.Host}
	return nil
}

// brief is the parameters of the question what an instance is.
type brief struct {
	Detail bool `json:"detail"`
}

// measure asks the instance how long a note may be, for some take less than others. Where it does not say, a note is as
// long as it was before.
func (m *Misskey) measure(ctx context.Context) {
	said, err := api.Call[struct {
		Longest api.Lenient[int] `json:"maxNoteTextLength"`
	}](ctx, m.api, "meta", brief{})
	if err != nil {
		m.log.Warn("the instance does not tell how long a note may be", chat.KeyErr, err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := said.Longest.V; n > 0 {
		m.longest = min(n, MaxNote)
	}
}

// listener hands in what one run hears, one thing after the other.
type listener struct {
	*Misskey
	stream *api.Stream
	hear   chat.Hear
	busy   bool // something was refused for now, so what is missing is fetched again
}

// again is how long what was refused for now waits.
const again = 30 * time.Second

// follow hands in what comes until the stream ends.
func (l *listener) follow(ctx context.Context, s *api.Stream) error {
	retry := time.NewTicker(again)
	defer retry.Stop()
	for {
		select {
		case ev := <-s.Events():
			l.take(ctx, ev)
		case c := <-l.late:
			l.takeChat(ctx, c)
		case <-retry.C:
			if l.busy {
				l.catchUp(ctx)
			}
			l.keep(ctx)
		case <-s.Done():
			return s.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take hands in what the stream tells. What cannot be understood is left out and never ends the run.
func (l *listener) take(ctx context.Context, ev api.Event) {
	switch {
	case ev.Note == "":
		l.takeOurs(ctx, ev)
	case ev.Type == "deleted":
		l.deleted(ctx, ev.Note)
	}
}

// takeOurs hands in what concerns our account.
func (l *listener) takeOurs(ctx context.Context, ev api.Event) {
	switch ev.Type {
	case "mention":
		n, err := decode[note](ev.Body)
		if err != nil {
			l.skip("mention", err)
			return
		}
		l.takeNote(ctx, n)
	case "newChatMessage":
		c, err := decode[chatMessage](ev.Body)
		if err != nil {
			l.skip("newChatMessage", err)
			return
		}
		l.takeChat(ctx, c)
	case "myTokenRegenerated": // the next call says whether ours still works
		if err := l.meet(ctx); err != nil {
			l.abort(err)
		}
	}
}

func (l *listener) takeNote(ctx context.Context, n note) {
	ev, err := l.noteEvent(n)
	if err != nil {
		l.skip("mention", err)
		return
	}
	l.hand(ctx, ev)
}

func (l *listener) takeChat(ctx context.Context, c chatMessage) {
	c, err := l.whole(ctx, c)
	switch err = api.Judge(err, false); {
	case temporary(err):
		l.later(c.CreatedAt.V.Time)
		return
	case err != nil:
		l.skip("newChatMessage", err)
		return
	}
	ev, err := l.chatEvent(c)
	if err != nil {
		l.skip("newChatMessage", err)
		return
	}
	l.hand(ctx, ev)
}

func (l *listener) hand(ctx context.Context, ev chat.Event) {
	if ev.At.IsZero() {
		ev.At = time.Now().UTC()
	}
	if l.handed.has(ev.ID) {
		return
	}
	switch l.hear(ctx, ev) {
	case chat.Busy:
		l.later(ev.At)
		return
	case chat.Accepted, chat.Repeat:
		l.watch(ctx, ev)
	case chat.Ignored, chat.Refused:
	}
	l.handed.add(ev.ID)
	l.since.heard(ev.At)
}

// later has everything from a moment on fetched again.
func (l *listener) later(from time.Time) {
	l.busy = true
	l.since.behind(from)
}

func (l *listener) skip(what string, err error) {
	l.log.Warn("an event was not understood and is left out", "event", what, chat.KeyErr, err)
}

func (l *listener) keep(ctx context.Context) {
	if err := l.since.save(context.WithoutCancel(ctx)); err != nil {
		l.log.Warn("it could not be kept until when everything was heard", chat.KeyErr, err)
	}
}
