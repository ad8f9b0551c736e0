package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"familiar/internal/control"
	"familiar/internal/phrase"
	"familiar/internal/terminal"
)

// shownBefore is how many events of a conversation that goes on are read, to show the last of it.
const shownBefore = 30

// chatScreen is a chat on a terminal. Everything of it happens on the goroutine of run; others hand it deeds.
type chatScreen struct {
	chatStart
	link   *chatLink
	tty    *terminal.TTY
	screen *terminal.Screen
	past   *terminal.History
	line   *terminal.Line

	ctx   context.Context //nolint:containedctx // the life of run, for the goroutines that it starts
	deeds chan func()
	group sync.WaitGroup

	printed  []string // what is to be printed with the next drawing
	note     string   // one row above the line, until the next key
	lost     bool     // the bot cannot be reached
	left     error
	over     bool
	armed    bool // one more Ctrl-C leaves
	stopping bool
	turns    []*chatTurn
	outgoing []outgoing // the first is on its way
	unseen   []string   // what was sent and is not on the stream yet
	offers   []control.Command
	offer    int
	closed   string // the text for which the offers were closed
}

// outgoing is a message that the bot does not have yet.
type outgoing struct{ id, text string }

// chatTurn is a turn that runs.
type chatTurn struct {
	id    string
	began time.Time
	tool  string   // the one that is at work
	tools []string // those that are done
}

func newChatScreen(tty *terminal.TTY, out io.Writer, link *chatLink, start chatStart) *chatScreen {
	past := start.diary.read()
	return &chatScreen{chatStart: start, link: link, tty: tty, screen: terminal.NewScreen(out, tty.Size),
		past: past, line: past.Line(), deeds: make(chan func(), 64)}
}

// run chats until the owner leaves or ctx ends. It returns when nothing of it runs any more.
func (c *chatScreen) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.group.Wait()
	defer cancel()
	c.ctx = ctx
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	c.begin()
	c.start(func() {
		err := c.tty.Read(ctx, func(k terminal.Key) { c.hand(func() { c.press(k) }) })
		c.hand(func() { c.leave(err) })
	})
	for !c.over {
		if err := c.draw(); err != nil {
			return err
		}
		select {
		case deed := <-c.deeds:
			c.all(deed)
		case <-resized:
		case <-beat.C:
		case <-ctx.Done():
			c.over = true
		}
	}
	if err := c.screen.Draw(c.printed, terminal.View{Rows: []string{""}}); c.left == nil {
		return err
	}
	return c.left
}

// all does a deed and those that wait already, so that they are drawn once.
func (c *chatScreen) all(deed func()) {
	for deed(); ; deed() {
		select {
		case deed = <-c.deeds:
		default:
			return
		}
	}
}

// start runs something beside the loop. The terminal is given back should it panic.
func (c *chatScreen) start(run func()) { c.group.Go(func() { c.tty.Guard(run) }) }

// hand gives a deed to the loop, from another goroutine.
func (c *chatScreen) hand(deed func()) {
	select {
	case c.deeds <- deed:
	case <-c.ctx.Done():
	}
}

// leave ends the chat. That there are no more keys is no error.
func (c *chatScreen) leave(err error) {
	c.over = true
	if err != nil && !errors.Is(err, io.EOF) {
		c.left = err
	}
}

// begin says who is there.
func (c *chatScreen) begin() {
	agent := c.state.Agent
	who := append([]string{c.paint(terminal.Bold, c.name())}, c.thinker()...)
	c.print(terminal.Fit(strings.Join(who, " · "), c.screen.Columns()))
	c.print(c.prose(terminal.Faint, "", c.book.Say(phrase.ChatHint))...)
	if !agent.Ready {
		c.print(c.prose(terminal.Red, "", agent.Missing+" "+agent.Next)...)
	}
	if c.session.Title != "" {
		c.print(c.prose(terminal.Faint, "", c.book.Say(phrase.ChatGoingOn, c.session.Title))...)
	}
	c.print("")
	if c.session.ID != "" {
		c.follow(-shownBefore)
	}
}

// thinker is who thinks for the bot. The built-in agent of a bot that nobody named is called as the bot, and named once.
func (c *chatScreen) thinker() (parts []string) {
	for _, part := range []string{c.state.Agent.Name, c.state.Agent.Provider, c.state.Agent.Model} {
		if part = terminal.Flat(part); part != "" && part != c.name() {
			parts = append(parts, part)
		}
	}
	return parts
}

// name is the bot's, for people.
func (c *chatScreen) name() string {
	if name := terminal.Flat(c.state.Bot.Name); name != "" {
		return name
	}
	return terminal.Flat(c.state.Bot.ID)
}

// follow shows what happens in the session, from an event on.
func (c *chatScreen) follow(from int64) {
	session := c.session.ID
	c.start(func() {
		err := c.link.follow(c.ctx, session, from, follower{
			see:  func(ev control.Event) { c.hand(func() { c.see(ev) }) },
			away: func() { c.hand(func() { c.reach(true) }) },
			back: func(state control.State) { c.hand(func() { c.state = state; c.reach(false) }) },
			gap:  func() { c.hand(func() { c.aside(phrase.ChatForgotten) }) },
		})
		if err != nil {
			c.hand(func() { c.leave(err) })
		}
	})
}

// reach tells that the bot was lost or found.
func (c *chatScreen) reach(lost bool) {
	if lost == c.lost {
		return
	}
	c.lost = lost
	if !lost {
		c.aside(phrase.ChatBack)
		return
	}
	c.aside(phrase.ChatAway)
}

// send puts a message behind those that are on their way.
func (c *chatScreen) send(text string) {
	c.said(text)
	c.outgoing = append(c.outgoing, outgoing{rand.Text(), text})
	c.unseen = append(c.unseen, text)
	if len(c.outgoing) == 1 {
		c.deliver()
	}
}

// deliver sends the first message that waits, again and again while the bot is away.
func (c *chatScreen) deliver() {
	next, session := c.outgoing[0], c.session.ID
	c.start(func() {
		var posted control.Posted
		err := c.link.try(c.ctx, func(bot *control.Client) (err error) {
			posted, err = bot.Post(c.ctx, session, next.id, next.text)
			return err
		}, func(error) { c.hand(func() { c.reach(true) }) })
		c.hand(func() { c.delivered(next, posted, err) })
	})
}

func (c *chatScreen) delivered(sent outgoing, posted control.Posted, err error) {
	c.outgoing = c.outgoing[1:]
	switch {
	case err != nil:
		c.forget(sent.text)
		c.print(c.prose(terminal.Red, "", c.book.Say(phrase.ChatNotSent, err))...)
		if c.line.Text() == "" {
			c.line.Set(sent.text)
		}
	case c.session.ID == "":
		c.reach(false)
		c.session.ID = posted.Session
		c.follow(0)
	}
	if len(c.outgoing) > 0 {
		c.deliver()
	}
}

// forget takes a text off what is awaited on the stream, and reports whether it was there.
func (c *chatScreen) forget(text string) bool {
	for n, waiting := range c.unseen {
		if waiting == text {
			c.unseen = append(c.unseen[:n:n], c.unseen[n+1:]...)
			return true
		}
	}
	return false
}

// stop ends the turn that runs.
func (c *chatScreen) stop() {
	c.stopping = true
	session := c.session.ID
	c.start(func() {
		ctx, cancel := context.WithTimeout(c.ctx, askTime)
		defer cancel()
		bot, err := c.link.bot()
		if err == nil {
			err = bot.Cancel(ctx, session)
		}
		if err != nil {
			c.hand(func() { c.note, c.stopping = err.Error(), false })
		}
	})
}
