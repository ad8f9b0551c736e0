package companion

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/script"
	"familiar/internal/briefing"
	"familiar/internal/chat"
)

// wake is a turn that the clock began.
func wake(job chat.SessionType) chat.Turn {
	ev := chat.Event{ID: "w", At: time.Now(), Place: chat.Place{Platform: "net", ID: "here", Kind: chat.Group},
		From: chat.Person{Platform: "net", ID: "ann"}, Body: chat.Woke{Job: job}}
	if job == chat.LurkSession {
		ev.Message, ev.Body = "q", chat.Woke{Job: job, About: &chat.Message{ID: "q", From: ev.From, Text: "what a day"}}
	}
	return chat.NewTurn(chat.Wake, ev, chat.Owner, time.Now())
}

// opened remembers what each session was opened with, and what its agent was told.
type opened struct {
	agent.Agent
	all  []agent.Opening
	told []string
}

func (o *opened) Open(ctx context.Context, with agent.Opening) (agent.Session, error) {
	o.all = append(o.all, with)
	s, err := o.Agent.Open(ctx, with)
	return told{s, o}, err
}

type told struct {
	agent.Session
	of *opened
}

func (s told) Prompt(ctx context.Context, t chat.Turn, blocks []agent.Block, w agent.Watcher) (agent.Result, error) {
	for _, b := range blocks {
		if text, ok := b.(agent.Text); ok {
			s.of.told = append(s.of.told, string(text))
		}
	}
	return s.Session.Prompt(ctx, t, blocks, w)
}

// book is a notebook in which somebody has written, or not.
type book struct {
	written bool
	closed  int
	err     error
}

func (b *book) Wrote() bool     { return b.written }
func (b *book) Close(err error) { b.closed++; b.err = err }

// AF-168: a lurk session has the normal prompt. The others have their own prompt, tools, and way to succeed.
func TestSessionTypes(t *testing.T) {
	say, hello := steps(script.Step{Say: "words"}), steps(reply("hi"))
	conversation := []string{"react-message", "send-reply"}
	for _, c := range []struct {
		job     chat.SessionType
		turns   []script.Turn
		prompts int
		err     string
		tools   []string
		notes   bool
		told    string
	}{
		{chat.LurkSession, []script.Turn{say, hello}, 2, "", conversation, false, "what a day"},
		{chat.SpontaneousSession, []script.Turn{say, hello}, 2, "", conversation, false, "of your own accord"},
		{chat.SpontaneousSession, []script.Turn{say, say}, 2, "without a reply", conversation, false, "of your own accord"},
		{chat.ReminderSession, []script.Turn{say, hello}, 2, "", conversation, false, "They asked you to remind them"},
		{chat.ResearchSession, []script.Turn{say, say}, 2, "", nil, true, "$AGENT_WORKSPACE"},
		{chat.UpkeepSession, []script.Turn{say}, 1, "", nil, false, "You tidy what"},
		{chat.UpkeepSession, []script.Turn{steps(script.Step{End: agent.MaxTokens})}, 1, "max_tokens", nil, false, "You tidy what"},
		{chat.UpkeepSession, []script.Turn{steps(script.Step{Fail: "gone"})}, 1, "gone", nil, false, "You tidy what"},
	} {
		r := open(t, c.turns...)
		o := &opened{Agent: r.agent}
		r.deps.Agent = o
		r.deps.Notes = func(context.Context, chat.Turn, string) (Notebook, error) { return &book{}, nil }
		r.deps.Errand = func(_ context.Context, t chat.Turn) (briefing.Errand, error) {
			return briefing.Errand{Prompt: map[chat.SessionType]string{chat.SpontaneousSession: briefing.SpontaneousPrompt,
				chat.ReminderSession: briefing.ReminderPrompt, chat.ResearchSession: briefing.ResearchPrompt,
				chat.UpkeepSession: briefing.UpkeepPrompt}[t.SessionType()]}, nil
		}
		res, err := r.Attend(t.Context(), wake(c.job))
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v", c.job, err)
		}
		if len(o.told) != c.prompts || !strings.Contains(o.told[0], c.told) || res.Retried != (c.prompts > 1) {
			t.Errorf("%s: %d prompts, retried %v, the first:\n%s", c.job, len(o.told), res.Retried, o.told[0])
		}
		with := o.all[0]
		var names []string
		for _, offered := range with.Tools.Tools() {
			names = append(names, offered.Name)
		}
		slices.Sort(names)
		if with.Type != c.job || with.Workspace.Notes != c.notes || !slices.Equal(names, c.tools) {
			t.Errorf("%s: opened with %+v, tools %q", c.job, with, names)
		}
	}
}

// AF-172: a run that has nothing to read is skipped, without an agent and without a failure.
func TestNothingToDo(t *testing.T) {
	r := open(t)
	o := &opened{Agent: r.agent}
	r.deps.Agent = o
	for _, fail := range []error{ErrNothing, errors.New("disk")} {
		b := &book{}
		r.deps.Notes = func(context.Context, chat.Turn, string) (Notebook, error) { return b, nil }
		r.deps.Errand = func(context.Context, chat.Turn) (briefing.Errand, error) { return briefing.Errand{}, fail }
		_, err := r.Attend(t.Context(), wake(chat.ResearchSession))
		if (err == nil) != errors.Is(fail, ErrNothing) || len(o.all) != 0 || b.closed != 1 || !errors.Is(b.err, fail) {
			t.Errorf("%v: %v, %d sessions, the notebook: %+v", fail, err, len(o.all), b)
		}
	}
}

// A session that should write a note is asked for it once more where there is none, and never where there is one. Its
// notebook is closed when its agent has gone.
func TestANoteIsAskedForOnceMore(t *testing.T) {
	say := steps(script.Step{Say: "words"})
	for written, prompts := range map[bool]int{true: 1, false: 2} {
		r := open(t, say, say)
		o, b := &opened{Agent: r.agent}, &book{written: written}
		r.deps.Agent = o
		closed := -1
		r.deps.Errand = func(context.Context, chat.Turn) (briefing.Errand, error) {
			return briefing.Errand{Prompt: briefing.ResearchPrompt}, nil
		}
		r.deps.Notes = func(context.Context, chat.Turn, string) (Notebook, error) {
			return closing{b, func() { closed = r.agent.closed }}, nil
		}
		res, err := r.Attend(t.Context(), wake(chat.ResearchSession))
		if err != nil || len(o.told) != prompts || res.Retried != (prompts == 2) || b.closed != 1 || closed != 1 {
			t.Errorf("written %v: %v, %d prompts, %+v, %d sessions closed before it", written, err, len(o.told), b, closed)
		}
		if prompts == 2 && (!strings.Contains(o.told[1], "there is no new note") || strings.Contains(o.told[1], "send-reply")) {
			t.Error(o.told[1])
		}
	}
}

type closing struct {
	*book
	seen func()
}

func (c closing) Close(err error) { c.seen(); c.book.Close(err) }

// What comes by itself waits neither behind a person's talk nor before it.
func TestRoomsOfTheirOwn(t *testing.T) {
	r := open(t)
	seen := map[chat.RoomKey]bool{}
	turns := []chat.Turn{turn(), wake(chat.LurkSession), wake(chat.SpontaneousSession), wake(chat.UpkeepSession)}
	for _, of := range turns {
		ev, _ := of.Trigger()
		seen[r.Room(ev)] = true
	}
	if len(seen) != len(turns) {
		t.Error(seen)
	}
}
