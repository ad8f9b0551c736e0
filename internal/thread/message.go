package thread

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"unicode"

	"familiar/internal/chat"
)

// Noting returns what puts a message into the current conversation of whoever said it, to run inside the transaction
// that accepts it. What is no message is put nowhere.
func (s *Threads) Noting(ctx context.Context, ev chat.Event) func(*sql.Tx) error {
	m, ok := ev.AsMessage()
	if !ok || m.ID == "" {
		return nothing
	}
	of := Whose{ev.Place, ev.From}
	return func(tx *sql.Tx) error {
		t, err := s.current(ctx, tx, of)
		if err == nil {
			err = s.note(ctx, tx, of, m.ID, t.ID)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE threads SET used = ?, title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?`,
				s.now().UnixMilli(), titled(m.Text), t.ID)
		}
		return wrap("note a message of a conversation", err)
	}
}

// Answering returns what puts a message of ours into the conversation of the one that it answers.
func (s *Threads) Answering(place chat.Place, m chat.Message) func(*sql.Tx) error {
	if m.ID == "" || m.ReplyTo == "" {
		return nothing
	}
	return func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO threads_messages (platform, place, message, thread, at)
			SELECT platform, place, ?1, thread, ?2 FROM threads_messages WHERE platform = ?3 AND place = ?4 AND message = ?5
			ON CONFLICT (platform, place, message) DO NOTHING`, m.ID, s.now().UnixMilli(), place.Platform, place.ID, m.ReplyTo)
		return wrap("note a message of a conversation", err)
	}
}

func nothing(*sql.Tx) error { return nil }

func (s *Threads) note(ctx context.Context, tx *sql.Tx, of Whose, message chat.MessageID, id ID) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO threads_messages (platform, place, message, thread, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (platform, place, message) DO UPDATE SET thread = excluded.thread`, of.Place.Platform, of.Place.ID, message, id, s.now().UnixMilli())
	if err != nil {
		return err
	}
	return s.sweep(ctx, tx, of)
}

// Meet reports whether an event belongs to the conversation of a turn, so that it may be handed to it.
func (s *Threads) Meet(ctx context.Context, t chat.Turn, ev chat.Event) (bool, error) {
	of, err := s.For(ctx, t)
	if err != nil {
		return false, err
	}
	t.Cause = []chat.Event{ev}
	other, err := s.For(ctx, t)
	return of.ID == other.ID, err
}

// For returns the conversation that a turn belongs to: the one that was current when its message was accepted, which
// need not be the current one now. A turn that answers no message belongs to the current one.
func (s *Threads) For(ctx context.Context, t chat.Turn) (Thread, error) {
	of := Of(t)
	found, err := one(ctx, s.db.Read(), `AND t.id = (SELECT thread FROM threads_messages
		WHERE platform = ?1 AND place = ?2 AND message = ?4)`, of, t.Answers())
	if errors.Is(err, ErrUnknown) {
		return s.Current(ctx, of)
	}
	return found, wrap("find the conversation of a turn", err)
}

// Current returns the current conversation of somebody, and begins their first.
func (s *Threads) Current(ctx context.Context, of Whose) (t Thread, err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		t, err = s.current(ctx, tx, of)
		return err
	})
	return t, wrap("find the current conversation", err)
}

// List returns the conversations of somebody, the one used last first.
func (s *Threads) List(ctx context.Context, of Whose) ([]Thread, error) {
	all, err := query(ctx, s.db.Read(), `ORDER BY t.used DESC, t.id DESC`, of)
	return all, wrap("list the conversations", err)
}

// Search returns those conversations of somebody whose name or title has all the words, or to which one of the
// messages belongs in which they were said.
func (s *Threads) Search(ctx context.Context, of Whose, words string, said []chat.Message) ([]Thread, error) {
	all, err := s.List(ctx, of)
	if err != nil {
		return nil, err
	}
	found := map[ID]bool{}
	for _, m := range said {
		if !Has(m.Text, words) {
			continue
		}
		t, err := one(ctx, s.db.Read(), `AND t.id = (SELECT thread FROM threads_messages
			WHERE platform = ?1 AND place = ?2 AND message = ?4)`, of, m.ID)
		if err != nil && !errors.Is(err, ErrUnknown) {
			return nil, wrap("search the conversations", err)
		}
		found[t.ID] = true
	}
	return slices.DeleteFunc(all, func(t Thread) bool {
		return !found[t.ID] && !Has(t.Name+" "+t.Title, words)
	}), nil
}

// Has reports whether a text has all the words, whatever their case.
func Has(text, words string) bool {
	text = strings.ToLower(text)
	for _, word := range strings.Fields(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// titled makes a title of the first thing that was said; a command is none.
func titled(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "/") {
		return ""
	}
	line, _, _ := strings.Cut(text, "\n")
	letters := []rune(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r == '`' || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, line)), " "))
	if len(letters) > longestTitle {
		return string(letters[:longestTitle-1]) + "…"
	}
	return string(letters)
}
