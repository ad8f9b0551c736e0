package briefing

import (
	"crypto/rand"

	"familiar/internal/chat"
)

// FurtherPrompt is the name of what a running turn is told when the same person says more.
const FurtherPrompt = "further.md"

// Further writes what a running turn is told when the person whom it answers says more. What they said stands in it
// as talk, like in the briefing that the turn began with.
func (b *Briefer) Further(r Request, ev chat.Event) (string, error) {
	page, err := b.prompts.Load(FurtherPrompt)
	if err != nil {
		return "", err
	}
	vars, err := b.vars(r)
	if err != nil {
		return "", err
	}
	vars.ContextMark = rand.Text()[:12]
	vars.UserContextMessage = section(furtherHeading, lines(current(chat.Turn{Cause: []chat.Event{ev}}), currentLine))
	return page.Render(vars), nil
}
