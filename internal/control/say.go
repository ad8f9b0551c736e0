package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// Reply is what a message came to.
type Reply struct {
	Session string `json:"sessionId"`
	Text    string `json:"text"`
	Status  string `json:"status"`           // completed, failed or cancelled
	Reason  string `json:"reason,omitempty"` // why it failed, where the bot tells it
	Next    string `json:"next,omitempty"`   // what can be done about it

	End int64 `json:"-"` // the index behind the last event of it
}

// ErrSilence says that the turn ended well and said nothing.
var ErrSilence = errors.New("the bot answered with silence")

// Say sends a message and waits for what comes back; see is shown what happens meanwhile.
func (c *Client) Say(ctx context.Context, session, text string, see ...func(Event)) (Reply, error) {
	posted, err := c.Post(ctx, session, rand.Text(), text)
	if err != nil {
		return Reply{}, err
	}
	return c.Await(ctx, posted, 0, see...)
}

// Await waits for what comes back to a message: the reply of the turn that it caused, or whatever the bot said about
// it. It reads the stream from an index on. A turn that ended without a word is ErrSilence; one that failed is an error
// that holds what the person was told. Status is "" when the answer has not come. see is shown every event on the way.
func (c *Client) Await(ctx context.Context, posted Posted, from int64, see ...func(Event)) (Reply, error) {
	reply := Reply{Session: posted.Session, End: from}
	w := wait{base: c.base, message: posted.Message, text: posted.Text}
	err := c.Stream(ctx, posted.Session, from, func(ev Event) bool {
		for _, see := range see {
			see(ev)
		}
		return !w.saw(ev)
	})
	if err != nil {
		return reply, err
	}
	reply.Text, reply.Status, reply.End = strings.Join(w.texts, "\n\n"), w.status, w.last.Index+1
	reply.Reason, reply.Next = w.last.Data.Reason, w.last.Data.Next
	return reply, reply.Verdict()
}

// wait follows a stream until the turn of one message has ended.
type wait struct {
	base    string // the bot's address
	message string
	text    string // by which the message is known while it has no name
	turn    string
	texts   []string
	status  string
	last    Event
}

// saw takes one event, and reports whether it was the last that matters.
func (w *wait) saw(ev Event) bool {
	w.last = ev
	if w.message == "" {
		if ev.Type == "message.received" && ev.Data.Text == w.text {
			w.message = ev.Data.Message
		}
		return false
	}
	ours := ev.Data.Answers == w.message || ev.Data.Turn == w.turn && w.turn != ""
	switch kind, stage, _ := strings.Cut(ev.Type, "."); {
	case ev.Type == "turn.started" && ev.Data.Answers == w.message:
		w.turn, w.texts = ev.Data.Turn, nil
	case ev.Type == "message.completed" && (ev.Data.ReplyTo == w.message || ours):
		w.texts = append(w.texts, ev.Data.Text)
	case ev.Type == "message.files" && (ev.Data.ReplyTo == w.message || ours || ev.Data.ReplyTo == "" && w.turn != ""):
		w.texts = append(w.texts, ev.files(w.base)) // what a command sends answers nothing by name
	case ev.Type == "message.updated" && len(w.texts) > 0 && w.turn != "":
		w.texts = []string{ev.Data.Text}
	case kind == "turn" && stage != "started" && ours:
		w.status = stage
		return true
	}
	return false
}

// Verdict is what the reply means for whoever asked: nil where there is one.
func (r Reply) Verdict() error {
	why := ""
	if r.Reason != "" {
		why = fmt.Sprintf("\n  %s\n  %s", r.Reason, r.Next)
	}
	switch {
	case r.Status != "completed" && r.Text == "":
		return fmt.Errorf("the turn %s without a word%s", r.Status, why)
	case r.Status == "failed":
		return errors.New(r.Text + why) // the bot's words say that it failed
	case r.Text == "":
		return ErrSilence
	}
	return nil
}
