package cli

import (
	"strings"

	"familiar/internal/control"
	"familiar/internal/logging"
	"familiar/internal/phrase"
	"familiar/internal/terminal"
)

// press does what a key says.
func (c *chatScreen) press(key terminal.Key) {
	c.note = ""
	armed := c.armed
	c.armed = false
	if len(c.offers) > 0 && c.choose(key.Code) {
		return
	}
	switch key.Code {
	case terminal.Enter:
		c.enter()
	case terminal.Interrupt:
		c.interrupt(armed)
	case terminal.EndOfInput:
		if c.line.Text() == "" {
			c.over = true
			return
		}
		c.line.Press(terminal.Key{Code: terminal.Delete})
	case terminal.Suspend:
		if err := c.tty.Suspend(); err != nil {
			c.leave(err)
		}
		c.screen.Forget()
	case terminal.Clear:
		if err := c.screen.Wipe(); err != nil {
			c.leave(err)
		}
	default:
		c.line.Press(key)
	}
	c.suggest()
}

// enter sends what is written; behind a backslash it breaks the line.
func (c *chatScreen) enter() {
	text := c.line.Text()
	if strings.HasSuffix(text, `\`) {
		c.line.Set(strings.TrimSuffix(text, `\`) + "\n")
		return
	}
	written := strings.TrimRight(text, " \n")
	if strings.TrimSpace(written) == "" {
		return
	}
	c.keep(written)
	c.line.Reset()
	c.send(strings.TrimSpace(written))
}

// keep remembers what was written, unless it holds a secret.
func (c *chatScreen) keep(text string) {
	if logging.Mask(text, nil) != text || !c.past.Add(text) {
		return
	}
	if err := c.diary.write(c.past); err != nil {
		c.note = err.Error()
	}
}

// interrupt stops the turn that runs; else it takes away what is written; else, the second time, it leaves.
func (c *chatScreen) interrupt(armed bool) {
	switch {
	case len(c.turns) > 0 && !c.stopping:
		c.stop()
	case len(c.turns) > 0, armed:
		c.over = true
	case c.line.Text() != "":
		c.line.Reset()
	default:
		c.armed = true
		c.note = c.book.Say(phrase.ChatLeave)
	}
}

// suggest offers commands while what is written is the beginning of one.
func (c *chatScreen) suggest() {
	text := c.line.Text()
	c.offers, c.offer = nil, 0
	if !strings.HasPrefix(text, "/") || strings.ContainsAny(text, " \n") || text == c.closed {
		return
	}
	c.closed = ""
	for _, command := range c.state.Commands {
		if strings.HasPrefix(command.Name, strings.ToLower(text)) {
			c.offers = append(c.offers, command)
		}
	}
}

// choose moves among the commands that are offered, and reports whether the key was for that.
func (c *chatScreen) choose(code terminal.Code) bool {
	switch count := len(c.offers); code {
	case terminal.Down:
		c.offer = (c.offer + 1) % count
	case terminal.Up:
		c.offer = (c.offer + count - 1) % count
	case terminal.BackTab:
		c.offer = (c.offer + count - 1) % count
	case terminal.Escape:
		c.closed = c.line.Text()
		c.suggest()
	case terminal.Tab:
		c.take()
	case terminal.Enter:
		if c.line.Text() == c.offers[c.offer].Name {
			return false
		}
		c.take()
	default:
		return false
	}
	return true
}

// take writes the command that is chosen.
func (c *chatScreen) take() {
	chosen := c.offers[c.offer]
	c.line.Set(chosen.Name)
	if chosen.Args != "" {
		c.line.Insert(" ")
	}
	c.suggest()
}

// maxOffers is how many commands are listed at once.
const maxOffers = 10

// listed are the rows of the commands that are offered.
func (c *chatScreen) listed() []string {
	var rows []string
	from := max(0, min(c.offer-maxOffers/2, len(c.offers)-maxOffers))
	wide := 0
	for _, command := range c.offers {
		wide = max(wide, terminal.Width(usageOf(command)))
	}
	for n, command := range c.offers {
		if n < from || n >= from+maxOffers {
			continue
		}
		usage := usageOf(command)
		mark, style := "  ", terminal.Faint
		if n == c.offer {
			mark, style = "> ", terminal.Bold
		}
		row := mark + usage + strings.Repeat(" ", wide-terminal.Width(usage)+2) + terminal.Flat(command.Help)
		rows = append(rows, c.paint(style, terminal.Fit(row, c.screen.Columns())))
	}
	return rows
}

func usageOf(command control.Command) string {
	return terminal.Flat(strings.TrimSpace(command.Name + " " + command.Args))
}
