package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// answering puts an answer together, and hands each piece of it on. It is for one goroutine.
type answering struct {
	saw   func(Piece)
	seen  bool // something was handed on: the question cannot be asked again unnoticed
	parts []Part
	stop  Stop
	usage Usage
	ended bool // the provider said why it stopped: the answer is whole
	ids   map[string]bool

	size  int // of everything that it holds, in bytes
	calls int // that have begun

	words     strings.Builder // of the part that is being said
	thought   bool            // it is Thinking
	signature string
}

// What an answer may hold: a hundred times what models are able to say at once. Everything in it is kept, shown and
// sent back several times over, so that the bound of the wire alone would be too wide.
const (
	maxHeld  = 8 << 20 // bytes
	maxCalls = 1024
)

var errTooRich = errors.New("the answer holds more than 8 MiB, or more than 1024 calls")

// bear counts what is added to the answer, before it is, and refuses what is more than it may hold.
func (a *answering) bear(calls, size int) error {
	a.calls += calls
	a.size += size
	if a.calls > maxCalls || a.size > maxHeld {
		return errTooRich
	}
	return nil
}

func (a *answering) hand(p Piece) {
	a.seen = true
	if a.saw != nil {
		a.saw(p)
	}
}

func (a *answering) text(s string) {
	if s == "" {
		return
	}
	if a.thought {
		a.close()
	}
	a.words.WriteString(s)
	a.hand(Piece{Text: s})
}

func (a *answering) thinking(s string) {
	if s == "" {
		return
	}
	if !a.thought {
		a.close()
		a.thought = true
	}
	a.words.WriteString(s)
	a.hand(Piece{Thinking: s})
}

// sign gives the thinking that is being said its proof. Without words it makes a part of its own.
func (a *answering) sign(signature string) {
	if signature == "" {
		return
	}
	if !a.thought {
		a.close()
		a.thought = true
	}
	a.signature += signature
}

// close ends the part that is being said.
func (a *answering) close() {
	switch {
	case a.thought && (a.words.Len() > 0 || a.signature != ""):
		a.parts = append(a.parts, Thinking{Text: a.words.String(), Signature: a.signature})
	case !a.thought && a.words.Len() > 0:
		a.parts = append(a.parts, Text(a.words.String()))
	}
	a.words.Reset()
	a.thought, a.signature = false, ""
}

// call adds a whole call. Every call gets an id of its own, whatever the provider gave.
func (a *answering) call(c Call) {
	a.close()
	if len(c.Input) == 0 {
		c.Input = json.RawMessage("{}")
	}
	if a.ids == nil {
		a.ids = map[string]bool{}
	}
	for n := len(a.ids) + 1; c.ID == "" || a.ids[c.ID]; n++ {
		c.ID = fmt.Sprintf("call_%d", n)
	}
	a.ids[c.ID] = true
	a.parts = append(a.parts, c)
	a.hand(Piece{Call: &c})
}

func (a *answering) answer() Answer {
	a.close()
	if a.stop == Ended && len(a.ids) > 0 { // some servers say «stop» where they mean a call
		a.stop = WantsTool
	}
	return Answer{Parts: a.parts, Stop: a.stop, Usage: a.usage}
}
