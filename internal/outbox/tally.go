package outbox

import (
	"cmp"
	"fmt"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

// What is counted in a turn.
type counted int

const (
	replies counted = iota
	edits
	reactions
	documents
	files
	kinds // how many kinds there are
)

// quota says how often a turn may do a thing that people see. A notice is the host's own word, and is not
// counted.
var quota = map[chat.TurnKind][kinds]int{
	chat.Talk:     {replies: 1, edits: 2, reactions: 10, documents: 2, files: 1},
	chat.Wake:     {replies: 1, edits: 2, reactions: 10, files: 1},
	chat.Job:      {replies: 1, edits: 2, reactions: 0},
	chat.Approved: {replies: 1, edits: 0, reactions: 0},
}

// spent says what to do when a quota is used up.
var spent = [kinds]string{
	replies:   "your reply was sent already: one turn has one reply. Stop here; use edit-reply to correct it",
	edits:     "the reply was edited as often as it may be. Stop here",
	reactions: "that is enough reactions for one turn. Stop here",
	documents: "that was sent already. Stop here",
	files:     "files were sent already: one turn sends files once. Stop here",
}

// tally is what a turn has done so far.
type tally struct {
	used   [kinds]int
	serial int

	reply  chat.MessageID // the newest reply
	text   string
	anchor chat.MessageID // what the reply answers
	parts  int            // in how many messages the reply went out
	file   chat.MessageID // the newest message with files
	doubt  bool           // nobody can tell whether what was said arrived

	silent bool                    // it lets nothing more out
	gone   map[chat.MessageID]bool // messages that were taken back: nothing answers them
}

// reserve takes a slot before anything is sent, so that two calls at once cannot both pass; release gives it
// back when nothing went out.
func (o *Outbox) reserve(t chat.Turn, what counted) (release func(), err error) {
	if t.Kind == chat.Notice {
		return func() {}, nil
	}
	limits, ok := quota[t.Kind]
	if !ok {
		return nil, fmt.Errorf("a turn of kind %q may not speak", t.Kind)
	}
	full, silent := false, false
	o.count(t, func(c *tally) {
		silent = c.silent
		if full = c.used[what] >= limits[what]; !full && !silent {
			c.used[what]++
		}
	})
	if silent {
		return nil, tool.Fault{Status: 410, Say: "the person took the message back; nothing more is said to it. Stop here"}
	}
	if full {
		return nil, tool.Fault{Status: 429, Say: spent[what]}
	}
	return func() { o.count(t, func(c *tally) { c.used[what]-- }) }, nil
}

// count changes or reads a turn's tally.
func (o *Outbox) count(t chat.Turn, do func(*tally)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c, ok := o.tallies[t.ID]
	if !ok {
		c = &tally{}
		o.tallies[t.ID] = c
	}
	do(c)
}

// key names the next deed of a turn.
func (o *Outbox) key(t chat.Turn) (key string) {
	o.count(t, func(c *tally) {
		c.serial++
		key = fmt.Sprintf("%s.%d", t.ID, c.serial)
	})
	return key
}

// Deeds reports what the turn has let somebody see.
func (o *Outbox) Deeds(t chat.Turn) (done chat.Deeds) {
	o.count(t, func(c *tally) {
		done = chat.Deeds{Replied: c.used[replies] > 0, Reacted: c.used[reactions] > 0, FileSent: c.used[files] > 0}
	})
	return done
}

// Reply returns the newest reply of a turn, else its newest message with files, "" when there is none.
func (o *Outbox) Reply(id chat.TurnID) (reply chat.MessageID) {
	o.count(chat.Turn{ID: id}, func(c *tally) { reply = cmp.Or(c.reply, c.file) })
	return reply
}

// anchor is the message that a reply of a turn answers: what the person wrote, or the files that were sent to them
// before, where the network takes that.
func (o *Outbox) anchor(t chat.Turn) (id chat.MessageID) {
	if p, ok := o.deps.Platforms[t.Place.Platform]; ok && p.Abilities().In(t.Place).Chains {
		o.count(t, func(c *tally) { id = c.file })
	}
	return cmp.Or(id, t.Answers())
}

// Silence lets nothing more of a turn out, and reports whether nothing was let out before.
func (o *Outbox) Silence(t chat.Turn) (nothing bool) {
	o.count(t, func(c *tally) { c.silent, nothing = true, c.used == [kinds]int{} })
	return nothing
}

// Detach makes what a turn says from now on answer no message that was taken back.
func (o *Outbox) Detach(t chat.Turn, gone chat.MessageID) {
	o.count(t, func(c *tally) {
		if c.gone == nil {
			c.gone = map[chat.MessageID]bool{}
		}
		c.gone[gone] = true
	})
}

// detached reports whether a message that a turn answers was taken back.
func (o *Outbox) detached(t chat.Turn, id chat.MessageID) (gone bool) {
	o.count(t, func(c *tally) { gone = c.gone[id] })
	return gone
}

// Forget drops what was counted for a turn that has ended.
func (o *Outbox) Forget(t chat.Turn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.tallies, t.ID)
}
