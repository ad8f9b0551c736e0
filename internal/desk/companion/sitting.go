package companion

import (
	"context"
	"errors"
	"fmt"

	"familiar/internal/agent"
	"familiar/internal/audit"
	"familiar/internal/briefing"
	"familiar/internal/chat"
	"familiar/internal/desk"
	"familiar/internal/tool"
	"familiar/internal/workspace"
)

// sitting is one turn at the desk: one tool session and one agent session.
type sitting struct {
	*Desk
	turn    chat.Turn
	kind    kind
	seat    *tool.Seat
	request briefing.Request
	source  string // what decided on yolo
	watch   *watcher
	book    Notebook // nil where no notes are written
	res     desk.Result
}

func (d *Desk) sit(ctx context.Context, t chat.Turn, ev chat.Event, looping func()) *sitting {
	session := d.session(t)
	what := t.SessionType()
	s := &sitting{Desk: d, turn: t, kind: kindOf(what), seat: d.deps.Box.Seat(session, ToolsOf(what, d.deps.Tools), func(string) { looping() })}
	s.request = briefing.Request{Turn: t, Session: session, Agent: d.deps.Agent.Name(), Model: d.deps.Model(what, ev), Notes: s.kind.notes}
	s.request.Yolo, s.source = d.deps.Yolo(ev)
	s.res = desk.Result{Session: session, Agent: s.request.Agent, Model: s.request.Model}
	s.watch = &watcher{ctx: ctx, sitting: s, policy: d.deps.Policy(t, session, s.request.Yolo), calls: map[string]call{}}
	return s
}

func (d *Desk) session(t chat.Turn) string {
	if d.deps.Session != nil {
		return d.deps.Session(t)
	}
	return tool.NewSession(d.deps.Now())
}

// run is the turn from its first word to its verdict, which is given when nothing of it runs any more.
func (s *sitting) run(ctx context.Context) (_ desk.Result, err error) {
	if s.kind.notes {
		if s.book, err = s.deps.Notes(ctx, s.turn, s.seat.Session()); err != nil {
			return s.res, err
		}
		defer func() { s.book.Close(err) }()
	}
	stop, err := s.think(ctx)
	s.res.Replied = s.answered()
	if err != nil || s.request.Can.Rehearses {
		return s.res, err
	}
	return s.res, s.verdict(stop)
}

// think opens the agent's session, prompts it, and once more when it ended its turn without a word.
func (s *sitting) think(ctx context.Context) (stop agent.StopReason, err error) {
	s.seat.Begin(ctx, s.turn)
	defer s.seat.End()
	errand, err := s.errand(ctx)
	if err != nil {
		return "", err
	}
	began := s.deps.Now()
	session, err := s.deps.Agent.Open(ctx, s.opening())
	s.connected(began, err)
	if err != nil {
		return "", err // the agent says what it was doing
	}
	defer func() {
		if err := session.Close(); err != nil {
			s.deps.Log.Warn("the agent's session did not close well", chat.KeyTurn, s.turn.ID, chat.KeyErr, err)
		}
	}()
	s.request.Can = session.Can()
	defer s.talks.join(s, session)()
	brief, err := s.brief(ctx, errand)
	if err != nil {
		return "", fmt.Errorf("brief the agent: %w", err)
	}
	s.briefed(brief)
	stop, err = s.prompt(ctx, session, brief.Blocks)
	if err == nil && stop == agent.EndTurn && !s.request.Can.Rehearses && !s.done() {
		stop, err = s.again(ctx, session)
	}
	return stop, err
}

// errand is what the session is told where no message began it; nil where one did.
func (s *sitting) errand(ctx context.Context) (*briefing.Errand, error) {
	if !s.kind.errand {
		return nil, nil
	}
	errand, err := s.deps.Errand(ctx, s.turn)
	return &errand, err
}

func (s *sitting) brief(ctx context.Context, errand *briefing.Errand) (briefing.Briefing, error) {
	if errand != nil {
		return s.deps.Briefer.Errand(ctx, s.deps.Sources, s.request, *errand)
	}
	return s.deps.Briefer.Reply(ctx, s.deps.Sources, s.request)
}

// opening asks for everything only where the configuration says so.
func (s *sitting) opening() agent.Opening {
	who := s.turn.From
	o := agent.Opening{Tools: s.seat, Model: s.request.Model, At: s.turn.Place.Kind, Type: s.turn.SessionType(),
		Workspace: workspace.Ref{Platform: who.Platform, User: who.ID, Session: s.seat.Session(), Notes: s.kind.notes}}
	if s.request.Yolo {
		o.Mode = "yolo"
	}
	return o
}

// again is the one retry of a turn that ended without a reply, or without the note that it was for, on the same session.
func (s *sitting) again(ctx context.Context, session agent.Session) (agent.StopReason, error) {
	s.res.Retried = true
	prompt, reason := briefing.RetryPrompt, "no_reply_sent"
	if s.kind.notes {
		prompt, reason = briefing.RetryNotePrompt, "no_note_written"
	}
	s.note(audit.RetryTriggered{RetryCount: 1, MaxRetries: 1, Reason: reason})
	blocks, err := s.deps.Briefer.Retry(s.request, prompt, s.watch.refused)
	if err != nil {
		return "", fmt.Errorf("brief the agent again: %w", err)
	}
	return s.prompt(ctx, session, blocks)
}

// prompt runs one prompt to its end, and to that of the calls that the agent began in it.
func (s *sitting) prompt(ctx context.Context, session agent.Session, blocks []agent.Block) (agent.StopReason, error) {
	s.prompted(blocks)
	got, err := session.Prompt(ctx, s.turn, blocks, s.watch)
	if err == nil {
		s.seat.Settle(ctx)
	}
	s.res.Stop, s.res.Tools = got.Stop, len(s.watch.calls)
	s.res.Usage.Input += got.Usage.Input
	s.res.Usage.Output += got.Usage.Output
	s.res.Usage.Total = max(s.res.Usage.Total, got.Usage.Total)
	s.heard()
	s.note(audit.AgentResponse{StopReason: string(got.Stop), IsRetry: s.res.Retried})
	return got.Stop, err
}

// done reports whether a session whose agent ended its turn has done what it was for.
func (s *sitting) done() bool {
	switch {
	case s.kind.notes:
		return s.book.Wrote()
	case s.kind.answers:
		return s.answered()
	}
	return true
}

// answered reports whether the person has seen anything.
func (s *sitting) answered() bool { return s.deps.Deeds(s.turn).Any() }

// verdict says what a turn came to whose agent answered its prompts.
func (s *sitting) verdict(stop agent.StopReason) error {
	switch {
	case s.res.Replied, stop == agent.EndTurn && !s.kind.answers:
		return nil
	case stop == agent.EndTurn:
		return ErrSilent
	case stop == agent.Refusal:
		return agent.ErrRefused
	case stop == agent.Cancelled:
		return errors.New("the agent says that its turn was cancelled")
	}
	return fmt.Errorf("the agent ended its turn without a reply, for the reason %q", stop)
}
