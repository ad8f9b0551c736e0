package companion

import (
	"fmt"
	"sync"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/desk"
)

var _ desk.Steerer = (*Desk)(nil)

// talks are the sessions that think now and can take more words.
type talks struct {
	mu sync.Mutex
	at map[chat.TurnID]talk
}

type talk struct {
	*sitting
	agent.Steerer
}

// join makes a session known, if it can take words, until what it returns is called.
func (t *talks) join(s *sitting, session agent.Session) (leave func()) {
	to, ok := session.(agent.Steerer)
	if !ok || !session.Can().Steer {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at[s.turn.ID] = talk{s, to}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.at, s.turn.ID)
	}
}

// Steer implements desk.Steerer. A turn has one reply: once that is out, more words are another turn's.
func (d *Desk) Steer(id chat.TurnID, ev chat.Event) error {
	d.talks.mu.Lock()
	t, ok := d.talks.at[id]
	d.talks.mu.Unlock()
	if !ok {
		return agent.ErrNoTurn
	}
	if d.deps.Deeds(t.turn).Replied {
		return agent.ErrNoTurn
	}
	text, err := d.deps.Briefer.Further(t.request, ev)
	if err != nil {
		return fmt.Errorf("brief the agent of more: %w", err)
	}
	if err := t.Steer(text); err != nil {
		return err
	}
	t.received(ev)
	return nil
}
