package cli

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/control"
	"familiar/internal/phrase"
	"familiar/internal/terminal"
)

// see shows one event. Types that it does not know are not for people.
func (c *chatScreen) see(ev control.Event) {
	c.reach(false)
	switch ev.Type {
	case "message.received":
		if !c.forget(ev.Data.Text) { // it was written elsewhere, or before
			c.said(ev.Data.Text)
		}
	case "message.completed":
		c.reply("", ev.Data.Text)
	case "message.files":
		if ev.Data.Text != "" {
			c.reply("", ev.Data.Text)
		}
		for _, f := range ev.Data.Files { // the page hands them over
			c.print(c.paint(terminal.Bold, c.name())+" "+terminal.Flat(f.Name)+" "+terminal.Flat(f.Path), "")
		}
	case "message.updated":
		c.reply(c.book.Say(phrase.ChatEdited), ev.Data.Text)
	case "input.requested":
		c.reply("", ev.Data.Text)
		c.aside(phrase.ApprovalOnPage)
	case "input.completed":
		c.print(append(c.prose(terminal.Faint, "", lastLine(ev.Data.Text)), "")...)
	case "message.deleted":
		c.aside(phrase.ChatDeleted)
	case "message.reacted":
		c.print(c.paint(terminal.Bold, c.name())+" "+terminal.Flat(ev.Data.Emoji), "")
	case "turn.started":
		c.turns = append(c.turns, &chatTurn{id: ev.Data.Turn, began: ev.At})
	case "actions.requested", "action.result":
		c.tool(ev)
	case "turn.completed", "turn.cancelled", "turn.failed":
		c.ended(ev)
	case "session.waiting":
		c.turns, c.stopping = nil, false
	}
}

// lastLine is how a question ended: the rest was shown when it was asked.
func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// tool notes which tool is at work.
func (c *chatScreen) tool(ev control.Event) {
	for _, t := range c.turns {
		if t.id != ev.Data.Turn {
			continue
		}
		t.tool = ""
		if name := terminal.Flat(ev.Data.Tool); ev.Type == "actions.requested" {
			t.tool = name
		} else if ev.Data.OK {
			t.tools = append(t.tools, name)
		} else {
			t.tools = append(t.tools, name+" ✗")
		}
	}
}

// ended tells how a turn ended, where that is not by its reply.
func (c *chatScreen) ended(ev control.Event) {
	c.turns = slices.DeleteFunc(c.turns, func(t *chatTurn) bool { return t.id == ev.Data.Turn })
	if len(c.turns) == 0 {
		c.stopping = false
	}
	switch ev.Type {
	case "turn.cancelled":
		c.aside(phrase.Stopped)
	case "turn.failed":
		c.print(c.prose(terminal.Red, "", c.book.Say(phrase.ChatFailed))...)
		for _, why := range []string{ev.Data.Reason, ev.Data.Next} {
			if why != "" {
				c.print(c.prose(0, "  ", why)...)
			}
		}
		c.print("")
	}
}

// said prints what the owner wrote.
func (c *chatScreen) said(text string) {
	rows := terminal.Plain(text, c.screen.Columns()-2)
	for n, row := range rows {
		mark := "  "
		if n == 0 {
			mark = c.paint(terminal.Green, prompt)
		}
		rows[n] = mark + row
	}
	c.print(append(rows, "")...)
}

// reply prints what the bot said.
func (c *chatScreen) reply(remark, text string) {
	if text == "" {
		return // it was taken back before it was seen
	}
	head := c.paint(terminal.Bold, c.name())
	if remark != "" {
		head += c.paint(terminal.Faint, " · "+remark)
	}
	c.print(head)
	c.print(c.prose(0, "  ", text)...)
	c.print("")
}

// aside prints a remark of our own.
func (c *chatScreen) aside(key phrase.Key) {
	c.print(append(c.prose(terminal.Faint, "", c.book.Say(key)), "")...)
}

// prose sets Markdown in rows, each behind lead.
func (c *chatScreen) prose(style terminal.Style, lead, text string) []string {
	columns := c.screen.Columns() - terminal.Width(lead)
	rows := terminal.Plain(text, columns)
	if c.colors && style == 0 {
		rows = terminal.Markdown(text, columns)
	}
	for n, row := range rows {
		if row != "" {
			rows[n] = lead + c.paint(style, row)
		}
	}
	return rows
}

func (c *chatScreen) print(rows ...string) { c.printed = append(c.printed, rows...) }

func (c *chatScreen) paint(style terminal.Style, text string) string {
	if !c.colors {
		return text
	}
	return style.Paint(text)
}

// prompt stands before what is written.
const prompt = "› "

// draw prints what is new, and shows the line with what surrounds it.
func (c *chatScreen) draw() error {
	var above []string
	for _, row := range []string{c.doing(), terminal.Flat(c.note)} {
		if row != "" {
			above = append(above, c.paint(terminal.Faint, terminal.Fit(row, c.screen.Columns())))
		}
	}
	v := c.line.Rows(c.paint(terminal.Green, prompt), c.screen.Columns())
	v.Rows = append(append(above, v.Rows...), c.listed()...)
	v.Row += len(above)
	printed := c.printed
	c.printed = nil
	return c.screen.Draw(printed, v)
}

// doing is the quiet row that says what happens: what is sent, that a turn runs, with which tools and how long.
func (c *chatScreen) doing() string {
	if c.lost || len(c.turns) == 0 { // what a bot does that is away is not known
		if len(c.outgoing) > 0 {
			return "… " + c.book.Say(phrase.ChatSending)
		}
		return ""
	}
	t := c.turns[0]
	now := c.book.Say(phrase.ChatThinking)
	switch {
	case c.stopping:
		now = c.book.Say(phrase.ChatStopping)
	case t.tool != "":
		now = t.tool
	}
	parts := []string{"… " + now}
	if len(t.tools) > 0 {
		parts = append(parts, strings.Join(t.tools[max(0, len(t.tools)-6):], ", "))
	}
	if took := time.Since(t.began); took >= 5*time.Second {
		parts = append(parts, c.book.Say(phrase.ChatSeconds, int(took.Seconds())))
	}
	return strings.Join(parts, " · ")
}
