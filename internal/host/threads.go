package host

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/command"
	"familiar/internal/desk"
	"familiar/internal/phrase"
	"familiar/internal/thread"
)

// continues reports whether the desk goes on with conversations, so that people have several of them.
func continues(d desk.Desk) bool {
	c, ok := d.(desk.Continuer)
	return ok && c.Continues()
}

// threading is what puts a message into its author's current conversation, in the transaction that accepts it.
func (h *Host) threading(ctx context.Context, ev chat.Event) []func(*sql.Tx) error {
	if !h.continues {
		return nil
	}
	return []func(*sql.Tx) error{h.threads.Noting(ctx, ev)}
}

// errElsewhere keeps a message from the running turn of another conversation: it waits in line.
var errElsewhere = errors.New("it belongs to another conversation than the running turn")

// meets reports as an error that an event belongs to another conversation than a turn.
func (h *Host) meets(ctx context.Context, t chat.Turn, ev chat.Event) error {
	if !h.continues {
		return nil
	}
	meet, err := h.threads.Meet(ctx, t, ev)
	if err == nil && !meet {
		err = errElsewhere
	}
	return err
}

// noting keeps a message of ours in history, and in the conversation that it answers.
func (h *Host) noting(place chat.Place, m chat.Message) func(*sql.Tx) error {
	keep := h.history.Noting(place, m)
	if !h.continues {
		return keep
	}
	return func(tx *sql.Tx) error { return errors.Join(keep(tx), h.threads.Answering(place, m)(tx)) }
}

// threadCommands are what people do about their conversations, where the desk goes on with them.
func (h *Host) threadCommands() []command.Command {
	if !h.continues {
		return nil
	}
	say := func(key phrase.Key) string { return h.phrases.Say(key) }
	return []command.Command{
		{Name: "/new", Needs: chat.Public, Args: say(phrase.ArgName), Help: say(phrase.HelpNew), Run: h.newThread},
		{Name: "/sessions", Needs: chat.Public, Args: say(phrase.ArgWords), Help: say(phrase.HelpSessions), Run: h.listThreads},
		{Name: "/switch", Needs: chat.Public, Args: say(phrase.ArgName), Help: say(phrase.HelpSwitch), Run: h.switchThread},
		{Name: "/rename", Needs: chat.Public, Args: say(phrase.ArgName), Help: say(phrase.HelpRename), Run: h.renameThread},
	}
}

func (h *Host) newThread(ctx context.Context, t chat.Turn, name string) (string, error) {
	made, err := h.threads.Begin(ctx, thread.Of(t), name)
	return h.phrases.Say(phrase.ThreadNew, made.Name), h.threadProblem(err)
}

func (h *Host) switchThread(ctx context.Context, t chat.Turn, name string) (string, error) {
	now, err := h.threads.Switch(ctx, thread.Of(t), name)
	return h.phrases.Say(phrase.ThreadSwitched, now.Name), h.threadProblem(err)
}

func (h *Host) renameThread(ctx context.Context, t chat.Turn, name string) (string, error) {
	now, err := h.threads.Rename(ctx, thread.Of(t), name)
	return h.phrases.Say(phrase.ThreadRenamed, now.Name), h.threadProblem(err)
}

// threadProblem gives what is wrong with a name the words for the person.
func (h *Host) threadProblem(err error) error {
	for known, key := range map[error]phrase.Key{thread.ErrUnknown: phrase.ThreadUnknown,
		thread.ErrTaken: phrase.ThreadTaken, thread.ErrName: phrase.ThreadName} {
		if errors.Is(err, known) {
			return chat.UserError{Say: h.phrases.Say(key), Err: err}
		}
	}
	return err
}

// searched is how many messages of a place are looked through for words: as many as history keeps itself.
const searched = 200

func (h *Host) listThreads(ctx context.Context, t chat.Turn, words string) (string, error) {
	var said []chat.Message
	if words != "" {
		var err error
		if said, err = h.history.Before(ctx, t.Place, t.Answers(), searched); err != nil {
			return "", err
		}
	}
	found, err := h.threads.Search(ctx, thread.Of(t), words, said)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return h.phrases.Say(phrase.NothingFound), nil
	}
	lines := make([]string, len(found))
	for i, one := range found {
		line := fmt.Sprintf("- `%s` %s", one.Name, one.Title)
		if one.Current {
			line += " " + h.phrases.Say(phrase.ThreadCurrent)
		}
		lines[i] = strings.Join(strings.Fields(line+" "+one.Used.In(h.cfg.Bot.Zone()).Format(time.DateOnly)), " ")
	}
	return strings.Join(lines, "\n"), nil
}
