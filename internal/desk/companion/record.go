package companion

import (
	"time"
	"unicode/utf8"

	"familiar/internal/agent"
	"familiar/internal/audit"
	"familiar/internal/briefing"
	"familiar/internal/chat"
)

// sessionType is what sessions of this desk are for.
const sessionType = chat.MessageSession

func (s *sitting) note(e audit.Entry) { s.deps.Audit.Note(s.turn.ID, e) }

// begin opens the session's audit: what caused it, and under which terms it runs.
func (s *sitting) begin(ev chat.Event) {
	s.deps.Audit.Open(s.turn.ID, s.seat.Session(), s.turn.From)
	said, _ := ev.AsMessage()
	s.note(audit.TriggerReceived{Platform: ev.Place.Platform, ChannelID: ev.Place.ID, UserID: ev.From.ID,
		MessageID: string(ev.Message), IsDM: ev.Place.Private(),
		ContentLength: utf8.RuneCountInString(ev.Text()), AttachmentCount: len(said.Attachments)})
	s.note(audit.SessionStart{SessionID: s.seat.Session(), SessionType: string(sessionType), WorkspaceKey: s.opening().Workspace.Key(),
		AgentType: s.request.Agent, Model: s.request.Model, Yolo: s.request.Yolo})
	s.note(audit.YoloResolution{Yolo: s.request.Yolo, Source: s.source})
}

// connected records how opening the agent's session went.
func (s *sitting) connected(began time.Time, err error) {
	e := audit.AgentConnect{AgentType: s.request.Agent, Success: err == nil, DurationMs: s.deps.Now().Sub(began).Milliseconds()}
	if err != nil {
		e.Error = err.Error()
	}
	s.note(e)
}

func (s *sitting) briefed(b briefing.Briefing) {
	s.note(audit.ContextAssembly{MemoriesCount: b.Memories, RecentMessagesCount: b.Recent,
		RelatedMessagesCount: b.Related, EstimatedTokens: b.Tokens})
}

func (s *sitting) prompted(blocks []agent.Block) {
	e := audit.PromptSent{ModelID: s.request.Model}
	for _, b := range blocks {
		switch b := b.(type) {
		case agent.Text:
			e.PromptLength += utf8.RuneCountInString(string(b))
		case agent.Image:
			e.ImageCount++
		}
	}
	s.note(e)
}

// end closes the session's audit.
func (s *sitting) end(err error) {
	replied, reacted := s.deps.Deeds(s.turn)
	e := audit.SessionEnd{Success: err == nil, ReplySent: replied, ReactionSent: reacted,
		DurationMs: s.deps.Now().Sub(s.turn.Began).Milliseconds()}
	if err != nil {
		e.Error = err.Error()
	}
	s.note(e)
	s.deps.Audit.Close(s.turn.ID)
}
