package acp

import (
	"encoding/json"
	"sync"

	"familiar/internal/agent"
)

const (
	// inboxLimit is how much may wait in an inbox, in bytes, before the reader lets the agent wait. One item is
	// always taken, however big.
	inboxLimit = 16 << 20
	// chunkLimit is how long coalesced text may get, in bytes, before the next piece begins.
	chunkLimit = 64 << 10
	// itemCost is what an item costs besides its content, in bytes: so that a flood of tiny items is bounded too.
	itemCost = 256
)

// item is one thing that came from the agent: an update, a request, or the answer to a call of ours.
type item struct {
	update  agent.Update
	text    []byte // the words of a Message or Thought, still growing; the update's own text is empty then
	request *message
	call    *call
	reply   *message
	era     int64 // how many prompts had been begun when it came
	size    int
}

// inbox keeps everything that came from the agent in the order in which it came. Neither a request nor an answer
// overtakes an update. It never drops: text that waits grows together, and beyond inboxLimit put blocks, which
// makes the agent wait on its pipe.
type inbox struct {
	mu     sync.Mutex
	moved  *sync.Cond
	items  []item
	bytes  int
	closed bool // nothing more comes; what is there is still handed out
}

func newInbox() *inbox {
	b := &inbox{}
	b.moved = sync.NewCond(&b.mu)
	return b
}

// put adds an item, and waits for room. It returns false when the inbox was closed.
func (b *inbox) put(it item) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.grow(&it) {
		return true
	}
	it.size += itemCost
	for !b.closed && len(b.items) > 0 && b.bytes+it.size > inboxLimit {
		b.moved.Wait()
	}
	if b.closed {
		return false
	}
	b.items = append(b.items, it)
	b.bytes += it.size
	b.moved.Broadcast()
	return true
}

// grow makes the text of it a part of the last item, when both are the same kind of text.
func (b *inbox) grow(it *item) bool {
	var piece string
	switch u := it.update.(type) {
	case agent.Message:
		piece, it.update = u.Text, agent.Message{}
	case agent.Thought:
		piece, it.update = u.Text, agent.Thought{}
	default:
		return false
	}
	if n := len(b.items); n > 0 && !b.closed {
		last := &b.items[n-1]
		if last.update == it.update && last.era == it.era && len(last.text)+len(piece) <= chunkLimit {
			last.text = append(last.text, piece...)
			last.size += len(piece)
			b.bytes += len(piece)
			return true
		}
	}
	it.text = []byte(piece)
	return false
}

// take waits for the next item; false means that no more will come.
func (b *inbox) take() (item, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.items) == 0 {
		if b.closed {
			return item{}, false
		}
		b.moved.Wait()
	}
	it := b.items[0]
	b.items[0] = item{}
	b.items = b.items[1:]
	b.bytes -= it.size
	b.moved.Broadcast()
	switch it.update.(type) {
	case agent.Message:
		it.update = agent.Message{Text: string(it.text)}
	case agent.Thought:
		it.update = agent.Thought{Text: string(it.text)}
	}
	return it, true
}

// close says that nothing more comes. With drop, what waits is thrown away.
func (b *inbox) close(drop bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if drop {
		b.items, b.bytes = nil, 0
	}
	b.moved.Broadcast()
}

// weigh returns what a message's content costs, in bytes.
func weigh(parts ...json.RawMessage) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return n
}
