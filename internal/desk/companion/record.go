package companion

import (
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/agent"
	"familiar/internal/audit"
	"familiar/internal/briefing"
	"familiar/internal/chat"
)

func (s *sitting) note(e audit.Entry) { s.deps.Audit.Note(s.turn.ID, e) }

// begin opens the session's audit: what caused it, and under which terms it runs.
func (s *sitting) begin() {
	s.deps.Audit.Open(s.turn.ID, s.seat.Session(), s.turn.From)
	for _, ev := range s.turn.Cause {
		s.received(ev)
	}
	s.note(audit.SessionStart{SessionID: s.seat.Session(), SessionType: string(s.turn.SessionType()), WorkspaceKey: s.opening().Workspace.Key(),
		AgentType: s.request.Agent, Model: s.request.Model, Yolo: s.request.Yolo})
	if ev, _ := s.turn.Trigger(); s.deps.Limited(ev) {
		s.note(audit.RateLimitChecked{Allowed: true})
	}
	s.note(audit.YoloResolution{Yolo: s.request.Yolo, Source: s.source})
}

// received records one message that the turn has to answer.
func (s *sitting) received(ev chat.Event) {
	said, _ := ev.AsMessage()
	s.note(audit.TriggerReceived{Platform: ev.Place.Platform, ChannelID: ev.Place.ID, UserID: ev.From.ID,
		MessageID: string(ev.Message), IsDM: ev.Place.Private(),
		ContentLength: utf8.RuneCountInString(ev.Text()), AttachmentCount: len(said.Attachments)})
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

// longestKept bounds what is kept of an agent's words for the audit, in bytes of each prompt.
const longestKept = 256 << 10

// words are what an agent wrote, or thought, in one prompt.
type words struct {
	text   strings.Builder // the beginning of it
	length int             // characters, of all of it
}

func (w *words) add(text string) {
	w.length += utf8.RuneCountInString(text)
	if room := longestKept - w.text.Len(); room > 0 {
		w.text.WriteString(strings.ToValidUTF8(text[:min(room, len(text))], ""))
	}
}

// take returns what was added, and begins anew.
func (w *words) take() (text string, length int) {
	text, length = w.text.String(), w.length
	*w = words{}
	return text, length
}

// heard records what the agent wrote and thought in a prompt that has ended.
func (s *sitting) heard() {
	if text, length := s.watch.said.take(); length > 0 {
		s.note(audit.AgentCompleteMessage{Content: text, Length: length})
	}
	if text, length := s.watch.thought.take(); length > 0 {
		s.note(audit.AgentCompleteThought{Content: text, Length: length})
	}
}

// end closes the session's audit.
func (s *sitting) end(err error) {
	done := s.deps.Deeds(s.turn)
	e := audit.SessionEnd{Success: err == nil, ReplySent: done.Replied, ReactionSent: done.Reacted, FileSent: done.FileSent,
		DurationMs: s.deps.Now().Sub(s.turn.Began).Milliseconds()}
	if err != nil {
		e.Error = err.Error()
	}
	s.note(e)
	s.deps.Audit.Close(s.turn.ID)
}
