package host

import (
	"context"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/phrase"
)

// staged is a network that shows how turns end, among what is said.
type staged struct{ *network }

func (s staged) Abilities() chat.Abilities {
	able := s.network.Abilities()
	able.Progress = true
	return able
}

func (s staged) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	show, is := a.(chat.Show)
	if !is {
		return s.network.Do(ctx, a)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if show.Progress.Stage == chat.TurnFailed {
		s.got = append(s.got, show.Place.ID+" failed")
	}
	return chat.Receipt{}, nil
}

// Whatever the disk refuses for a while, a turn that failed is shown as over once, behind the last that is said of it.
func TestATurnEndsOnce(t *testing.T) {
	for write, log := range map[string]string{noNotice: "a notice did not go out", `UPDATE ON inbox WHEN NEW.state = 'done'`: "could not be finished"} {
		r := liveWith(t, dir(t), nil, func(o *Options) { o.Network = staged{o.Network.(*network)} }, silent(), silent())
		free := r.refuse(write)
		r.hears(event("dm1", "ann", "hi"), chat.Accepted)
		r.until("it was refused", func() bool { return strings.Contains(r.log.String(), log) })
		free()
		r.nothingLeft()
		r.says("dm1: "+r.phrases.Say(phrase.Sorry), "dm1 failed")
	}
}
