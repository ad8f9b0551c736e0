package approval

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"familiar/internal/chat"
	"familiar/internal/phrase"
	"familiar/internal/tool"
)

// labels are what stands on the buttons.
var labels = map[Option]phrase.Key{Yes: phrase.ApprovalYes, No: phrase.ApprovalNo, Today: phrase.ApprovalToday}

// endings are what is said of a question that is closed.
var endings = map[Option]phrase.Key{Yes: phrase.ApprovalSaidYes, No: phrase.ApprovalSaidNo, Today: phrase.ApprovalSaidToday}

// show puts a question before its person, with fresh buttons: those of an earlier time count no more.
func (a *Approvals) show(ctx context.Context, q Question) (Question, error) {
	var buttons []chat.Option
	q, err := a.change(ctx, q.ID, func(tx *sql.Tx, q *Question) error {
		buttons = nil
		q.Revision++
		if _, err := tx.ExecContext(ctx, `DELETE FROM approval_buttons WHERE question = ?`, q.ID); err != nil {
			return err
		}
		for _, option := range q.options() {
			button := newID(16)
			buttons = append(buttons, chat.Option{ID: button, Label: a.deps.Phrases.Say(labels[option])})
			_, err := tx.ExecContext(ctx, `INSERT INTO approval_buttons VALUES (?, ?, ?, ?)`, button, q.ID, q.Revision, option)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return q, err
	}
	receipt, err := a.deps.Do(ctx, a.notice(q), chat.Ask{Place: q.Place, Text: a.text(q), Options: buttons,
		Words: a.deps.Phrases.Say(phrase.ApprovalWords, sayYes+" "+q.ID, sayNo+" "+q.ID), ReplyTo: q.Answers, Turn: q.Turn,
		Key: fmt.Sprintf("ask.%s.%d", q.ID, q.Revision)})
	if err != nil {
		return q, fmt.Errorf("show a question: %w", err)
	}
	return a.change(ctx, q.ID, func(_ *sql.Tx, q *Question) error {
		q.Message, q.Shown = receipt.Message, a.deps.Now()
		return nil
	})
}

// notice is the turn in which the host speaks of a question.
func (a *Approvals) notice(q Question) chat.Turn {
	ev := chat.Event{ID: chat.NewEventID("approval", q.Place, chat.KindNoticed, q.ID, ""), At: q.Asked, Place: q.Place,
		From: q.From, Message: q.Answers, Addressed: true, Body: chat.Noticed{Surface: "approval"}}
	return chat.NewTurn(chat.Notice, ev, chat.Foreign, a.deps.Now())
}

// close says where the question is shown how it ended. It reports false where nothing that was said can be changed.
func (a *Approvals) close(ctx context.Context, q Question) (shown bool) {
	if q.Message != "" {
		_, err := a.deps.Do(ctx, a.notice(q), chat.Edit{Place: q.Place, Message: q.Message, ReplyTo: q.Answers,
			Text: a.text(q) + "\n\n" + a.ending(q)})
		var fault tool.Fault
		if shown = err == nil; !errors.As(err, &fault) {
			a.warn(q, "show its end", err)
		}
	}
	_, err := a.change(ctx, q.ID, func(_ *sql.Tx, q *Question) error { q.Closed = true; return nil })
	a.warn(q, "close it", err)
	return shown
}

// ending says how a question ended.
func (a *Approvals) ending(q Question) string {
	say := a.deps.Phrases.Say
	switch q.State {
	case Answered:
		return say(endings[q.Option])
	case Expired:
		return say(phrase.ApprovalExpired)
	case Withdrawn, Unasked:
	}
	return say(phrase.ApprovalWithdrawn)
}

// text is the question as it is shown.
func (a *Approvals) text(q Question) string {
	args := a.deps.Vault.Mask(visible(pretty(q.Args)))
	if runes := []rune(args); len(runes) > mostShown {
		args = string(runes[:mostShown]) + "\n" + a.deps.Phrases.Say(phrase.ApprovalMore, len(runes)-mostShown)
	}
	fence := "```"
	for strings.Contains(args, fence) {
		fence += "`"
	}
	return a.deps.Phrases.Say(phrase.ApprovalAsk, q.Tool) + "\n" + fence + "json\n" + args + "\n" + fence
}

// pretty sets arguments for reading.
func pretty(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, args, "", "  ") != nil {
		return string(args)
	}
	return b.String()
}

// visible writes out what would not be seen, or would make other words look otherwise than they are.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)) {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Shorten bounds what a person is told of a result, on one line.
func Shorten(text string) string {
	text = strings.Join(strings.Fields(visible(text)), " ")
	if runes := []rune(text); len(runes) > mostResult {
		return string(runes[:mostResult]) + "…"
	}
	return text
}
