package room

import (
	"slices"

	"familiar/internal/chat"
)

// Fate is what an edit or a recall found of the message that it is about.
type Fate int

// The fates.
const (
	Past    Fate = iota // it is neither waiting nor being worked on, or the edit changes nothing
	InLine              // it waited: it was changed or taken out
	AtWork              // a turn works on it
	AllGone             // a recall only: a turn works on it, and on nothing else that is not recalled too
)

// Found is what an edit or a recall found. Event is the message, Turn the one that works on it.
type Found struct {
	Fate  Fate
	Event chat.Event
	Turn  chat.Turn
}

// Edit gives a message that waits its new text, in its place in line. Only its author's edits count.
func (rs *Rooms) Edit(edit chat.Event) Found {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.open {
		if w, i := r.find(edit); i >= 0 {
			amended, ok := r.queue[w].evs[i].Amend(edit)
			if !ok {
				return Found{}
			}
			r.queue[w].evs[i] = amended
			return Found{Fate: InLine, Event: amended}
		}
		if r.turn == nil {
			continue
		}
		if i := slices.IndexFunc(r.turn.causes(), about(edit)); i >= 0 {
			was := r.turn.causes()[i]
			if _, ok := was.Amend(edit); !ok || was.Text() == edit.Text() {
				return Found{}
			}
			return Found{AtWork, was, r.turn.Turn}
		}
	}
	return Found{}
}

// Recall takes a message that waits out of the line. Where a turn works on it, it says so, and the turn goes on: it
// is for the caller to Cancel it.
func (rs *Rooms) Recall(recall chat.Event) Found {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.open {
		if w, i := r.find(recall); i >= 0 {
			gone := r.queue[w].evs[i]
			r.queue[w].evs = slices.Delete(r.queue[w].evs, i, i+1)
			if len(r.queue[w].evs) == 0 {
				r.queue = slices.Delete(r.queue, w, w+1)
			}
			r.wake()
			return Found{Fate: InLine, Event: gone}
		}
		if r.turn == nil {
			continue
		}
		if i := slices.IndexFunc(r.turn.causes(), about(recall)); i >= 0 {
			return r.turn.recall(i)
		}
	}
	return Found{}
}

// recall notes that one of the turn's causes is gone.
func (t *turn) recall(i int) Found {
	all := t.causes()
	if t.gone == nil {
		t.gone = map[chat.EventID]bool{}
	}
	t.gone[all[i].ID] = true
	fate := AllGone
	if slices.ContainsFunc(all, func(ev chat.Event) bool { return !t.gone[ev.ID] }) {
		fate = AtWork
	}
	return Found{fate, all[i], t.Turn}
}

// find returns where in line a message waits, -1 when it does not.
func (r *room) find(amendment chat.Event) (w, i int) {
	for w := range r.queue {
		if i := slices.IndexFunc(r.queue[w].evs, about(amendment)); i >= 0 {
			return w, i
		}
	}
	return -1, -1
}

// about tells which event an edit or a recall by its author is about.
func about(amendment chat.Event) func(chat.Event) bool {
	of := amendment.Concerns()
	return func(ev chat.Event) bool { return of != "" && ev.Message == of && together(ev, amendment) }
}
