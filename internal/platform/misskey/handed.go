package misskey

import "familiar/internal/chat"

// mostHanded is how many events are known as handed in.
const mostHanded = 2000

// handed knows the events that were handed in lately, so that what comes by the stream and is fetched as well is handed
// in once. Of more than it keeps it forgets the oldest. Only a run uses it, and there is one at a time.
type handed struct {
	known map[chat.EventID]bool
	order []chat.EventID
	next  int
}

func (h *handed) has(id chat.EventID) bool { return h.known[id] }

func (h *handed) add(id chat.EventID) {
	switch {
	case h.known == nil:
		h.known = map[chat.EventID]bool{}
	case h.known[id]:
		return
	}
	if len(h.order) < mostHanded {
		h.order = append(h.order, id)
	} else {
		delete(h.known, h.order[h.next])
		h.order[h.next] = id
		h.next = (h.next + 1) % mostHanded
	}
	h.known[id] = true
}
