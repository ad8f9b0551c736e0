package web

import (
	"context"
	"database/sql"
	"fmt"

	"familiar/internal/chat"
)

// What the lines about questions say. A question is a message of ours: its id names it for answers too.
type (
	asking struct {
		Request chat.MessageID `json:"requestId"`
		Message chat.MessageID `json:"messageId"`
		Text    string         `json:"text"`
		Options []option       `json:"options"`
		ReplyTo chat.MessageID `json:"replyTo,omitempty"`
		Turn    chat.TurnID    `json:"turnId,omitempty"`
	}
	option struct {
		ID    string `json:"optionId"`
		Label string `json:"label"`
	}
	answered struct {
		Request chat.MessageID `json:"requestId"`
		Message chat.MessageID `json:"messageId"`
		Text    string         `json:"text"`
	}
)

// ask writes a question.
func ask(ctx context.Context, p *pen, a chat.Ask) (chat.Receipt, error) {
	if err := fits(a.Text); err != nil {
		return chat.Receipt{}, err
	}
	if receipt, known, err := posted(ctx, p, a.Key); err != nil || known {
		return receipt, err
	}
	id := newID("b_")
	q := asking{Request: id, Message: id, Text: a.Text, ReplyTo: a.ReplyTo, Turn: a.Turn, Options: []option{}}
	for _, o := range a.Options {
		q.Options = append(q.Options, option{o.ID, o.Label})
	}
	index, err := put(ctx, p, inputRequested, q)
	if err != nil {
		return chat.Receipt{}, err
	}
	return chat.Receipt{Message: id, At: p.at}, note(ctx, p, id, sql.NullString{String: a.Key, Valid: a.Key != ""}, index)
}

// isQuestion reports whether the line of a message is a question. One that is not kept any more is none.
func isQuestion(ctx context.Context, p *pen, index int64) (bool, error) {
	var n int
	err := p.tx.QueryRowContext(ctx, `SELECT count(*) FROM web_events WHERE session = ? AND idx = ? AND type = ?`,
		p.session, index, inputRequested).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("look for the question: %w", err)
	}
	return n > 0, nil
}
