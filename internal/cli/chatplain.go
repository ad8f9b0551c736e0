package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"familiar/internal/control"
)

// maxInput bounds one line of input, in bytes: more than the bot takes.
const maxInput = 1 << 20

// plainChat is a chat without a screen: lines in, replies out.
type plainChat struct {
	in        io.Reader
	out, errs io.Writer
	prompt    string
	session   string // "" until there is one

	next int64 // the event to read from
}

// chatPlainly sends each line and prints what comes back. A message that failed is told, and makes the exit code 1; the
// next ones are sent all the same.
func chatPlainly(cmd *cobra.Command, link *chatLink, c plainChat) error {
	if _, err := link.bot(); err != nil {
		return err
	}
	lines := bufio.NewScanner(c.in)
	lines.Buffer(make([]byte, 0, 64<<10), maxInput)
	failed := false
	for {
		text, more := c.read(lines)
		if !more {
			break
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := c.ask(cmd.Context(), link, text); err != nil {
			failed = true
			if _, wrong := fmt.Fprintf(c.errs, "familiar: %s\n", shown(c.errs, err.Error())); wrong != nil {
				return wrong
			}
		}
	}
	if c.prompt != "" {
		_, _ = io.WriteString(c.out, "\n") // whatever comes next has a row of its own
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("read what to send: a line is longer than %d KiB", maxInput>>10)
	} else if err != nil {
		return fmt.Errorf("read what to send: %w", err)
	}
	if failed {
		return exitError{exitFailed}
	}
	return nil
}

// read takes a message: a line, with those that follow it while one ends with a backslash.
func (c *plainChat) read(lines *bufio.Scanner) (text string, more bool) {
	for {
		_, _ = io.WriteString(c.out, c.prompt) // what cannot be written is told with the reply
		if !lines.Scan() {
			return text, text != ""
		}
		line := lines.Text()
		if !strings.HasSuffix(line, `\`) {
			return text + line, true
		}
		text += strings.TrimSuffix(line, `\`) + "\n"
	}
}

// ask sends one message and prints the reply. Ctrl-C ends the turn.
func (c *plainChat) ask(ctx context.Context, link *chatLink, text string) error {
	asking, stop := signal.NotifyContext(ctx, syscall.SIGINT)
	defer stop()
	id, away := rand.Text(), false
	var reply control.Reply
	var posted control.Posted
	err := link.try(asking, func(bot *control.Client) (err error) {
		if posted.Session == "" {
			if posted, err = bot.Post(asking, c.session, id, text); err != nil {
				return err
			}
		}
		reply, err = bot.Await(asking, posted, c.next, asked(c.errs))
		if reply.Status != "" {
			return nil // it has come, whatever it is
		}
		return err
	}, func(err error) {
		if !away {
			_, _ = fmt.Fprintf(c.errs, "familiar: %s; trying again\n", shown(c.errs, err.Error())) // it is told again at the end
		}
		away = true
	})
	if posted.Session != "" {
		c.session = posted.Session
	}
	if asking.Err() != nil && ctx.Err() == nil {
		return errors.Join(errors.New("stopped"), c.cancel(ctx, link))
	}
	if err != nil {
		return err
	}
	c.next = reply.End
	return c.print(reply)
}

// print says what a message came to.
func (c *plainChat) print(reply control.Reply) error {
	switch err := reply.Verdict(); {
	case errors.Is(err, control.ErrSilence):
		return nil
	case err != nil:
		return err
	}
	_, err := fmt.Fprintln(c.out, shown(c.out, reply.Text))
	return err
}

func (c *plainChat) cancel(ctx context.Context, link *chatLink) error {
	bot, err := link.bot()
	if err != nil || c.session == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return bot.Cancel(ctx, c.session)
}
