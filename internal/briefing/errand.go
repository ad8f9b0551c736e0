package briefing

import (
	"context"
	"crypto/rand"
	"strings"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// The prompts of sessions that nobody's message began.
const (
	SpontaneousPrompt = "system_spontaneous.md"
	ResearchPrompt    = "system_self_research.md"
	UpkeepPrompt      = "system_memory_maintenance.md"
	ReminderPrompt    = "system_reminder.md"
)

// Errand is what a session is told that nobody's message began: its prompt, and the text that is its own. Text of
// people or of the internet in it is told as talk, behind a mark that nobody could know.
type Errand struct {
	Prompt string
	// Surroundings has the important memories and the custom emojis of the place told, and the recent talk where Talk
	// is set.
	Surroundings, Talk bool

	WorkspaceKey   string
	MemoriesDump   string
	MinMemoryCount int
	RSSItems       string

	ReminderMessage, ReminderCreatedAt, ReminderScheduledAt string
}

// Errand briefs such a session. What cannot be read of the surroundings is left out with a warning.
func (b *Briefer) Errand(ctx context.Context, src Sources, r Request, e Errand) (Briefing, error) {
	page, err := b.prompts.Load(e.Prompt)
	if err != nil {
		return Briefing{}, err
	}
	vars, err := b.vars(r)
	if err != nil {
		return Briefing{}, err
	}
	vars.ContextMark, vars.errand = rand.Text()[:12], e
	var m Material
	if e.Surroundings {
		src.Related, src.Fetch = nil, nil
		if !e.Talk {
			src.Recent = nil
		}
		if m, err = Gather(ctx, src, r, b.log); err != nil {
			b.log.Warn("no recent talk for a briefing", chat.KeyTurn, string(r.Turn.ID), chat.KeyErr, err)
			src.Recent = nil
			m, _ = Gather(ctx, src, r, b.log) // it fails for the sake of the talk alone
		}
	}
	return composeErrand(m, page, vars, b.cfg.TokenLimit), nil
}

// composeErrand writes the briefing of an errand. The memories are never cut; what limit leaves goes to the talk first,
// then to the emojis. Pure.
func composeErrand(m Material, page Page, v Vars, limit int) Briefing {
	v.importantMemories = memorySection(m.Memories)
	recent := lines(m.Recent, line)
	room := limit - Estimate(page.Render(v))
	kept, _, room := fitTalk(recent, nil, room)
	v.recentMessages = section(recentHeading, kept)
	v.availableEmojis = emojiSection(m.Emojis, room)
	v.recentMessagesFetched = len(kept) > 0
	text := strings.TrimSpace(page.Render(v))
	return Briefing{Blocks: []agent.Block{agent.Text(text)}, Tokens: Estimate(text), Memories: len(m.Memories), Recent: len(kept), Cut: len(recent) - len(kept)}
}
