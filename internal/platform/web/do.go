package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// The types of the lines that are not a chat.Stage.
const (
	sessionStarted  = "session.started"
	sessionWaiting  = "session.waiting" // no turn runs any more
	messageReceived = "message.received"
	messageDone     = "message.completed"
	messageUpdated  = "message.updated"
	messageDeleted  = "message.deleted"
	messageReacted  = "message.reacted"
	inputRequested  = "input.requested" // a question of ours
	inputCompleted  = "input.completed" // it is closed
)

// What the lines say.
type (
	nothing struct{}
	worded  struct {
		Message chat.MessageID `json:"messageId"`
		Text    string         `json:"text"`
		ReplyTo chat.MessageID `json:"replyTo,omitempty"`
		Turn    chat.TurnID    `json:"turnId,omitempty"`
	}
	pointed struct {
		Message chat.MessageID `json:"messageId"`
		Emoji   string         `json:"emoji,omitempty"`
	}
	turned struct {
		Turn    chat.TurnID    `json:"turnId"`
		Answers chat.MessageID `json:"answers,omitempty"` // the message that the turn is about
		Reason  string         `json:"reason,omitempty"`  // why it failed
		Next    string         `json:"next,omitempty"`    // what can be done about it
	}
	requested struct {
		Turn chat.TurnID `json:"turnId"`
		Tool string      `json:"tool"`
	}
	resulted struct {
		Turn chat.TurnID `json:"turnId"`
		Tool string      `json:"tool"`
		OK   bool        `json:"ok"`
	}
)

// Do writes the action on the stream of its session; when it returns, the line is on the disk. A session that
// nobody opened is an error.
func (w *Web) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	place := a.Where()
	var do func(ctx context.Context, p *pen) (chat.Receipt, error)
	switch a := a.(type) {
	case chat.Say:
		do = func(ctx context.Context, p *pen) (chat.Receipt, error) { return say(ctx, p, a) }
	case chat.Edit:
		do = func(ctx context.Context, p *pen) (chat.Receipt, error) { return edit(ctx, p, a) }
	case chat.Delete:
		do = func(ctx context.Context, p *pen) (chat.Receipt, error) { return remove(ctx, p, a) }
	case chat.React:
		do = func(ctx context.Context, p *pen) (chat.Receipt, error) { return react(ctx, p, a) }
	case chat.SendFile:
		files, err := enclose(a.Files)
		if err != nil {
			return chat.Receipt{}, err
		}
		do = func(ctx context.Context, p *pen) (chat.Receipt, error) { return sendFiles(ctx, p, a, files) }
	case chat.Ask:
		do = func(ctx context.Context, p *pen) (chat.Receipt, error) { return ask(ctx, p, a) }
	case chat.Show:
		do = func(ctx context.Context, p *pen) (chat.Receipt, error) { return show(ctx, p, a) }
	default:
		return chat.Receipt{}, platform.ErrUnsupported
	}
	if place.Platform != Name || !isSession(place.ID) {
		return chat.Receipt{}, fmt.Errorf("%s %q is no session of the web platform", place.Platform, place.ID)
	}
	f, done, err := w.use(ctx, place.ID)
	if err != nil {
		return chat.Receipt{}, fmt.Errorf("find the session: %w", err)
	}
	defer done()
	if !f.known() {
		return chat.Receipt{}, fmt.Errorf("there is no session %q", place.ID)
	}
	var receipt chat.Receipt
	err = f.write(ctx, w, func(p *pen) (err error) {
		receipt, err = do(ctx, p)
		return err
	})
	if err != nil {
		return chat.Receipt{}, err
	}
	return receipt, nil
}

func say(ctx context.Context, p *pen, a chat.Say) (chat.Receipt, error) {
	if err := fits(a.Text); err != nil {
		return chat.Receipt{}, err
	}
	if receipt, known, err := posted(ctx, p, a.Key); err != nil || known {
		return receipt, err
	}
	id := newID("b_")
	index, err := put(ctx, p, messageDone, worded{id, a.Text, a.ReplyTo, a.Turn})
	if err != nil {
		return chat.Receipt{}, err
	}
	return chat.Receipt{Message: id, At: p.at}, note(ctx, p, id, sql.NullString{String: a.Key, Valid: a.Key != ""}, index)
}

// posted returns the message that was posted with a key; an empty key is of none.
func posted(ctx context.Context, p *pen, key string) (chat.Receipt, bool, error) {
	var message string
	var at int64
	err := p.tx.QueryRowContext(ctx, `SELECT message, at FROM web_messages WHERE session = ? AND key = ?`,
		p.session, key).Scan(&message, &at)
	switch {
	case key == "" || errors.Is(err, sql.ErrNoRows):
		return chat.Receipt{}, false, nil
	case err != nil:
		return chat.Receipt{}, false, fmt.Errorf("look for the key: %w", err)
	}
	return chat.Receipt{Message: chat.MessageID(message), At: time.UnixMilli(at).UTC()}, true, nil
}

// note remembers where a message is, and by which key it was asked for. A message with an id of the form b_… is
// ours.
func note(ctx context.Context, p *pen, id chat.MessageID, key sql.NullString, index int64) error {
	_, err := p.tx.ExecContext(ctx, `INSERT INTO web_messages VALUES (?, ?, ?, ?, ?, ?)`,
		p.session, string(id), key, id[0] == 'b', index, p.at.UnixMilli())
	if err != nil {
		return fmt.Errorf("note the message: %w", err)
	}
	return nil
}

func edit(ctx context.Context, p *pen, a chat.Edit) (chat.Receipt, error) {
	if err := fits(a.Text); err != nil {
		return chat.Receipt{}, err
	}
	index, err := find(ctx, p, a.Message, true)
	if err != nil {
		return chat.Receipt{}, err
	}
	question, err := isQuestion(ctx, p, index)
	switch {
	case err != nil:
	case question: // to change the words of one is to close it
		_, err = put(ctx, p, inputCompleted, answered{a.Message, a.Message, a.Text})
	default:
		_, err = put(ctx, p, messageUpdated, worded{Message: a.Message, Text: a.Text})
	}
	return chat.Receipt{Message: a.Message, At: p.at}, err
}

// remove says that a message is gone and takes its words out of the stream, so that a replay does not tell them.
func remove(ctx context.Context, p *pen, a chat.Delete) (chat.Receipt, error) {
	index, err := find(ctx, p, a.Message, true)
	if err != nil {
		return chat.Receipt{}, err
	}
	_, err = p.tx.ExecContext(ctx, `UPDATE web_events SET data = json_set(data, '$.text', '') WHERE session = ?
		AND idx >= ? AND type IN (?, ?, ?, ?) AND json_extract(data, '$.messageId') = ?`,
		p.session, index, messageDone, messageUpdated, inputRequested, inputCompleted, string(a.Message))
	if err != nil {
		return chat.Receipt{}, fmt.Errorf("take the words out: %w", err)
	}
	_, err = put(ctx, p, messageDeleted, pointed{Message: a.Message})
	return chat.Receipt{Message: a.Message, At: p.at}, err
}

func react(ctx context.Context, p *pen, a chat.React) (chat.Receipt, error) {
	if _, err := find(ctx, p, a.Message, false); err != nil {
		return chat.Receipt{}, err
	}
	_, err := put(ctx, p, messageReacted, pointed{a.Message, a.Emoji})
	return chat.Receipt{Message: a.Message, At: p.at}, err
}

// show writes a stage of a turn, and that the session waits when its last turn has ended.
func show(ctx context.Context, p *pen, a chat.Show) (_ chat.Receipt, err error) {
	kind := string(a.Progress.Stage)
	switch a.Progress.Stage {
	case chat.TurnStarted:
		if _, err = put(ctx, p, kind, turned{Turn: a.Turn, Answers: a.Answers}); err == nil {
			_, err = p.tx.ExecContext(ctx, `INSERT OR IGNORE INTO web_turns VALUES (?, ?)`, p.session, string(a.Turn))
		}
	case chat.ToolStarted:
		_, err = put(ctx, p, kind, requested{a.Turn, a.Progress.Tool})
	case chat.ToolEnded:
		_, err = put(ctx, p, kind, resulted{a.Turn, a.Progress.Tool, a.Progress.OK})
	case chat.TurnCompleted, chat.TurnFailed, chat.TurnCancelled:
		err = endTurn(ctx, p, kind, turned{a.Turn, a.Answers, a.Progress.Reason, a.Progress.Next})
	default:
		return chat.Receipt{}, platform.ErrUnsupported
	}
	return chat.Receipt{At: p.at}, err
}

func endTurn(ctx context.Context, p *pen, kind string, t turned) error {
	if _, err := put(ctx, p, kind, t); err != nil {
		return err
	}
	_, err := p.tx.ExecContext(ctx, `DELETE FROM web_turns WHERE session = ? AND turn = ?`, p.session, string(t.Turn))
	if err != nil {
		return fmt.Errorf("end the turn: %w", err)
	}
	var running int
	err = p.tx.QueryRowContext(ctx, `SELECT count(*) FROM web_turns WHERE session = ?`, p.session).Scan(&running)
	if err != nil {
		return fmt.Errorf("count the turns: %w", err)
	}
	if running == 0 {
		_, err = put(ctx, p, sessionWaiting, nothing{})
	}
	return err
}

// find returns the index of a message of the session.
func find(ctx context.Context, p *pen, id chat.MessageID, ours bool) (index int64, err error) {
	err = p.tx.QueryRowContext(ctx, `SELECT idx FROM web_messages WHERE session = ? AND message = ? AND ours >= ?`,
		p.session, string(id), ours).Scan(&index)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("there is no message %q that this can be done to", id)
	}
	return index, err
}

func fits(text string) error {
	if n := utf8.RuneCountInString(text); n > MaxText {
		return fmt.Errorf("the text has %d characters, the most is %d", n, MaxText)
	}
	return nil
}

// closeCutOff ends on the streams the turns that an earlier process did not end.
func (w *Web) closeCutOff(ctx context.Context) (err error) {
	rows, err := w.db.Read().QueryContext(ctx, `SELECT session, turn FROM web_turns`)
	if err != nil {
		return fmt.Errorf("find turns that were cut off: %w", err)
	}
	var open []chat.Show
	for rows.Next() {
		var session, turn string
		if err := rows.Scan(&session, &turn); err != nil {
			return errors.Join(err, rows.Close())
		}
		open = append(open, chat.Show{Place: placeOf(session), Turn: chat.TurnID(turn),
			Progress: chat.Progress{Stage: chat.TurnFailed}})
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("find turns that were cut off: %w", err)
	}
	for _, show := range open {
		if _, err := w.Do(ctx, show); err != nil {
			return fmt.Errorf("close a turn that was cut off: %w", err)
		}
	}
	return nil
}
