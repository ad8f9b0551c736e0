package briefing

import (
	"fmt"
	"strings"
)

// node is a piece of a parsed prompt. The set is closed: the types of this block.
type node interface {
	render(b *strings.Builder, v Vars)
}

type (
	words    string   // as it stands
	variable string   // the name of a variable, whose value is put in and never read as a template
	sequence []node   // one after the other
	file     sequence // a file that was put in, without the white space around it
	choice   struct { // what follows a variable that is set, and what follows one that is not
		name    string
		yes, no sequence
	}
)

func (w words) render(b *strings.Builder, _ Vars) { b.WriteString(string(w)) }

func (n variable) render(b *strings.Builder, v Vars) {
	value, _ := v.find(string(n))
	b.WriteString(value.text)
}

func (s sequence) render(b *strings.Builder, v Vars) {
	for _, n := range s {
		n.render(b, v)
	}
}

func (f file) render(b *strings.Builder, v Vars) {
	var own strings.Builder
	sequence(f).render(&own, v)
	b.WriteString(strings.TrimSpace(own.String()))
}

func (c choice) render(b *strings.Builder, v Vars) {
	branch := c.no
	if value, _ := v.find(c.name); value.set {
		branch = c.yes
	}
	branch.render(b, v)
}

// PromptError says what is wrong with a prompt file. The session that needed it fails; the next one reads the
// file again.
type PromptError struct {
	Path string
	Line int // 0 when it is about the file as a whole
	Say  string
}

func (e PromptError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("prompt %s: %s", e.Path, e.Say)
	}
	return fmt.Sprintf("prompt %s:%d: %s", e.Path, e.Line, e.Say)
}
