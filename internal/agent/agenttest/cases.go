package agenttest

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"strings"
	"testing"

	"familiar/internal/agent"
)

func says(t *testing.T, b *bench) {
	s, w := b.open("ann"), &Watch{}
	if s.ID() == "" || b.agent.Name() == "" {
		t.Error("the session or the agent has no name")
	}
	if r := s.ask(t, w, Say); r.Stop != agent.EndTurn {
		t.Errorf("the turn stopped with %q", r.Stop)
	}
	if !strings.Contains(w.Said(), "hello") {
		t.Errorf("it said %q", w.Said())
	}
}

func thinks(t *testing.T, b *bench) {
	w := &Watch{}
	b.open("ann").ask(t, w, Think)
	if said := w.Said(); strings.Contains(said, "hidden") || !strings.Contains(said, "shown") {
		t.Errorf("it said %q", said)
	}
	var thought strings.Builder
	for _, u := range w.Updates() {
		if u, ok := u.(agent.Thought); ok {
			thought.WriteString(u.Text)
		}
	}
	if !strings.Contains(thought.String(), "hidden") {
		t.Errorf("it thought %q", thought.String())
	}
}

// asked runs the turn that asks, and returns the ask and how its tool call ended.
func asked(t *testing.T, b *bench, w *Watch) (agent.Ask, agent.ToolStatus) {
	t.Helper()
	b.open("ann").ask(t, w, Ask)
	asks := w.Asks()
	if len(asks) == 0 {
		t.Fatal("it asked for nothing")
	}
	first := asks[0]
	if first.Call == "" || first.Title == "" || len(first.Options) == 0 || !isJSON(first.RawInput) {
		t.Errorf("the ask is not whole: %+v", first)
	}
	call, ok := w.Call(first.Call)
	if !ok {
		t.Fatalf("nothing was seen of the tool call %s", first.Call)
	}
	return first, call.Status
}

func allowed(t *testing.T, b *bench) {
	ask, status := asked(t, b, &Watch{Answer: Allow})
	if status != agent.StatusCompleted {
		t.Errorf("allowed, and the call is %q", status)
	}
	for _, o := range ask.Options {
		if o.ID == ask.Choose(true).Option && o.Kind != agent.AllowOnce {
			t.Errorf("the yes is of kind %q", o.Kind)
		}
	}
}

func refused(t *testing.T, b *bench) {
	if _, status := asked(t, b, &Watch{}); status != agent.StatusFailed {
		t.Errorf("refused, and the call is %q", status)
	}
}

func tools(t *testing.T, b *bench) {
	s := b.open("ann")
	s.ask(t, &Watch{}, Tool)
	if notes := s.noted(); len(notes) != 1 || notes[0] != "ann tea" {
		t.Errorf("noted %q, want one note of ann's: tea", notes)
	}
}

func cancel(t *testing.T, b *bench) {
	s := b.open("ann")
	ctx, stop := context.WithCancelCause(t.Context())
	r := s.start(ctx, &Watch{}, Wait)
	await(t, "the first words", r.began)
	stop(errStop)
	if err := await(t, "the end of a cancelled turn", r.done); !errors.Is(err, errStop) {
		t.Errorf("the turn ended with %v, want the cause", err)
	}
	w := &Watch{}
	s.ask(t, w, Say)
	if !strings.Contains(w.Said(), "hello") {
		t.Errorf("the turn after a cancelled one said %q", w.Said())
	}
}

// A turn that is cancelled while it asks: nobody's late answer counts, and the turn ends.
func cancelAsking(t *testing.T, b *bench) {
	s := b.open("ann")
	ctx, stop := context.WithCancelCause(t.Context())
	w := &Watch{Answer: func(ctx context.Context, ask agent.Ask) agent.Answer {
		stop(errStop)
		<-ctx.Done()
		return ask.Choose(true)
	}}
	r := s.start(ctx, w, Ask)
	if err := await(t, "the end of a cancelled turn", r.done); !errors.Is(err, errStop) {
		t.Errorf("the turn ended with %v, want the cause", err)
	}
	if call, ok := w.Call(w.Asks()[0].Call); ok && call.Status == agent.StatusCompleted {
		t.Error("the answer that came after the cancel was taken")
	}
}

func closing(t *testing.T, b *bench) {
	s := b.open("ann")
	r := s.start(t.Context(), &Watch{}, Wait)
	await(t, "the first words", r.began)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := await(t, "the end of a turn whose session was closed", r.done); !errors.Is(err, agent.ErrGone) {
		t.Errorf("the turn ended with %v, want ErrGone", err)
	}
	if _, err := s.prompt(t.Context(), "ann", &Watch{}, agent.Text(Say)); !errors.Is(err, agent.ErrGone) {
		t.Errorf("a prompt after Close ended with %v, want ErrGone", err)
	}
}

func two(t *testing.T, b *bench) {
	ann, bob := b.open("ann"), b.open("bob")
	if ann.ID() == bob.ID() {
		t.Errorf("both sessions are called %s", ann.ID())
	}
	r := ann.start(t.Context(), &Watch{}, Wait)
	await(t, "the first words", r.began)
	w := &Watch{}
	bob.ask(t, w, Say)
	if !strings.Contains(w.Said(), "hello") {
		t.Errorf("the second session said %q", w.Said())
	}
	if err := ann.Close(); err != nil {
		t.Error(err)
	}
	if err := await(t, "the end of the closed session's turn", r.done); err == nil {
		t.Error("the turn of a closed session ended well")
	}
	bob.ask(t, &Watch{}, Say)
}

func pictures(t *testing.T, b *bench) {
	s := b.open("ann")
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewRGBA(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	w := &Watch{}
	_, err := s.prompt(t.Context(), "ann", w, agent.Text(See), agent.Image{MIME: "image/png", Data: file.Bytes()})
	switch {
	case !s.Can().Image && err == nil:
		t.Error("it takes no pictures, and took one")
	case s.Can().Image && (err != nil || !strings.Contains(w.Said(), "picture")):
		t.Errorf("it said %q, error %v", w.Said(), err)
	}
}

func after(t *testing.T, b *bench) {
	s := b.open("ann")
	s.ask(t, &Watch{}, Say)
	if err := b.agent.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.prompt(t.Context(), "ann", &Watch{}, agent.Text(Say)); !errors.Is(err, agent.ErrGone) {
		t.Errorf("a prompt after the end ended with %v, want ErrGone", err)
	}
	if _, err := b.agent.Open(t.Context(), agent.Opening{}); err == nil {
		t.Error("a session was opened after the end")
	}
	if err := b.agent.Close(); err != nil {
		t.Error("closing again:", err)
	}
}
