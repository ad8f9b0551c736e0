// Package command is the table of slash commands. A command is answered at once, on the goroutine that heard
// it, and never waits behind a running turn. A command that a person may not use is ordinary text.
package command

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

	"familiar/internal/chat"
)

// Command is one entry of the table.
type Command struct {
	Name  string // with the slash: /help
	Needs chat.Trust
	Args  string // what follows it, for people, in the bot's language: TEXT; "" when nothing does
	Help  string // one line, in the bot's language
	// Run does it. What it returns is said to the person; "" says nothing. An error is the host's to tell.
	Run func(ctx context.Context, t chat.Turn, rest string) (say string, err error)
}

// Commands is the table at work. Safe for concurrent use.
type Commands struct {
	table []Command
	hooks Hooks
}

// Hooks are what the host does around a command.
type Hooks struct {
	Now func() time.Time
	// Began notes that the command is taken up: a crash must not run it again. An error ends it there.
	Began func(context.Context, chat.Turn) error
	// Ended says the answer, or tells of the error, and finishes the event.
	Ended func(ctx context.Context, t chat.Turn, name, say string, err error)
}

// New makes the table; Take looks in its order.
func New(hooks Hooks, table ...Command) *Commands { return &Commands{table, hooks} }

// For returns the commands that somebody of that trust may use.
func (c *Commands) For(trust chat.Trust) []Command {
	var may []Command
	for _, cmd := range c.table {
		if trust >= cmd.Needs {
			may = append(may, cmd)
		}
	}
	return may
}

// Take runs the command that the event is, and reports whether it is one. It blocks for as long as the command
// runs.
func (c *Commands) Take(ctx context.Context, ev chat.Event, trust chat.Trust) bool {
	said, ok := ev.Body.(chat.Said)
	if !ok {
		return false
	}
	name, rest := Split(said.Text)
	for _, cmd := range c.For(trust) {
		if cmd.Name != name {
			continue
		}
		t := chat.NewTurn(chat.Notice, ev, trust, c.hooks.Now())
		if err := c.hooks.Began(ctx, t); err != nil {
			c.hooks.Ended(ctx, t, name, "", err)
			return true
		}
		say, err := cmd.guarded(ctx, t, rest)
		c.hooks.Ended(ctx, t, name, say, err)
		return true
	}
	return false
}

// guarded runs a command; a panic is its error.
func (c Command) guarded(ctx context.Context, t chat.Turn, rest string) (say string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the command panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return c.Run(ctx, t, rest)
}

// Split parts a text into the slash word that it begins with and what follows; the word ends at white space, so
// that /clearance is not /clear. A text that begins otherwise has no word.
func Split(text string) (name, rest string) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") {
		return "", text
	}
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i], strings.TrimSpace(text[i:])
	}
	return text, ""
}
