package web

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/answer"
	"familiar/internal/chat"
)

// hearTime is how long an event may take to become durable.
const hearTime = 30 * time.Second

type opening struct {
	Message     string            `json:"message"`
	Attachments []json.RawMessage `json:"attachments"`
	ID          string            `json:"id"`
}

type proceeding struct {
	Message string   `json:"message"`
	ID      string   `json:"id"`
	Answers []choice `json:"answers"`
}

// choice answers one question of ours: by an option, or in words.
type choice struct {
	Request string `json:"requestId"`
	Option  string `json:"optionId"`
	Text    string `json:"text"`
}

type accepted struct {
	OK      bool           `json:"ok"`
	Session string         `json:"sessionId"`
	Message chat.MessageID `json:"messageId,omitempty"`
}

type duplicate struct {
	Accepted  bool `json:"accepted"`
	Duplicate bool `json:"duplicate"`
}

// open starts a session with its first message. A session's id comes from the id of the call where it has one, so
// that the same call finds the same session, at the same time or after a restart.
func (w *Web) open(rw http.ResponseWriter, r *http.Request) {
	body, err := decode[opening](rw, r)
	if err == nil && len(body.Attachments) > 0 {
		err = bad("attachments are not in this build; send the message without them")
	}
	if err == nil {
		body.Message, err = wording(body.Message, body.ID)
	}
	if err != nil {
		refuse(rw, err)
		return
	}
	id := body.ID
	if id == "" {
		id = string(newID(""))
	}
	session := "s_" + hash("session", id)
	message, _, err := w.post(r, session, true, id, chat.Said{Text: body.Message})
	if err != nil {
		refuse(rw, err)
		return
	}
	answer.JSON(rw, http.StatusAccepted, accepted{true, session, message})
}

// proceed takes a further message of a session, or answers to questions.
func (w *Web) proceed(rw http.ResponseWriter, r *http.Request) {
	body, err := decode[proceeding](rw, r)
	if err != nil {
		refuse(rw, err)
		return
	}
	session := r.PathValue("session")
	if len(body.Answers) > 0 {
		w.answered(rw, r, session, body)
		return
	}
	if body.Message, err = wording(body.Message, body.ID); err != nil {
		refuse(rw, err)
		return
	}
	message, repeat, err := w.post(r, session, false, body.ID, chat.Said{Text: body.Message})
	switch {
	case err != nil:
		refuse(rw, err)
	case repeat:
		answer.JSON(rw, http.StatusAccepted, duplicate{true, true})
	default:
		answer.JSON(rw, http.StatusAccepted, accepted{true, session, message})
	}
}

// answered hears answers: an option is a button that was pressed, words are a reply to the question. A program
// that holds the bearer must not say yes for its owner.
func (w *Web) answered(rw http.ResponseWriter, r *http.Request, session string, body proceeding) {
	bodies, err := w.choices(r, body)
	for i := 0; err == nil && i < len(bodies); i++ {
		id := ""
		if _, pressed := bodies[i].(chat.Pressed); pressed {
			id = body.Answers[i].Request + "\n" + body.Answers[i].Option
		}
		_, _, err = w.post(r, session, false, id, bodies[i])
	}
	if err != nil {
		refuse(rw, err)
		return
	}
	answer.JSON(rw, http.StatusAccepted, accepted{OK: true, Session: session})
}

// choices turns answers into what happened, all or none.
func (w *Web) choices(r *http.Request, body proceeding) ([]chat.Body, error) {
	if !w.viaPage(r) {
		return nil, fault{status: http.StatusForbidden, say: "answers are taken from the page only, not with the token"}
	}
	if body.Message != "" || body.ID != "" {
		return nil, bad("send a message or answers, not both")
	}
	var bodies []chat.Body
	for _, a := range body.Answers {
		text := strings.TrimSpace(clean(a.Text))
		switch {
		case a.Request == "" || utf8.RuneCountInString(a.Request) > maxID || utf8.RuneCountInString(a.Option) > maxID:
			return nil, bad("each answer needs a requestId of 1 to %d characters", maxID)
		case a.Option != "":
			bodies = append(bodies, chat.Pressed{Button: a.Option})
		case text != "":
			bodies = append(bodies, chat.Said{Text: text, ReplyTo: chat.MessageID(a.Request)})
		default:
			return nil, bad("each answer needs an optionId or a text")
		}
	}
	return bodies, nil
}

// viaPage says that a person sent the request: it came with a page session.
func (w *Web) viaPage(r *http.Request) bool { return w.deps.ViaPage != nil && w.deps.ViaPage(r) }

// post hands one event of a session to hear and, when it was taken, writes it on the stream. id is the caller's;
// "" means that the event is a new one.
func (w *Web) post(r *http.Request, session string, start bool, id string, body chat.Body) (chat.MessageID, bool, error) {
	hear, done, ok := w.ear.Hearing(r.Context())
	if !ok {
		return "", false, errBusy
	}
	defer done()
	// A client that goes away between hearing and writing must not leave one without the other.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), hearTime)
	defer cancel()
	if !isSession(session) {
		return "", false, errUnknown
	}
	f, leave, err := w.use(ctx, session)
	if err != nil {
		return "", false, w.broken("find the session", err)
	}
	defer leave()
	f.posting.Lock()
	defer f.posting.Unlock()
	if !start && !f.known() {
		return "", false, errUnknown
	}
	message := newID("u_")
	if id != "" {
		message = chat.MessageID("u_" + hash("message", session, id))
	}
	if known, err := w.knownMessage(ctx, session, message); err != nil || known {
		return message, known, w.broken("look for the message", err)
	}
	ev := chat.Event{ID: chat.NewEventID(Name, placeOf(session), body.Kind(), string(message), ""), At: stamp(),
		Place: placeOf(session), From: owner, Message: message, Addressed: true, Body: body,
		ByProgram: !w.viaPage(r)}
	repeat, err := w.hand(ctx, f, hear, ev)
	return message, repeat, err
}

// hand lets ev be heard. The stream shows the message before anything that it causes.
func (w *Web) hand(ctx context.Context, f *feed, hear chat.Hear, ev chat.Event) (repeat bool, err error) {
	f.hold()
	outcome := chat.Busy
	defer func() {
		var compose func(p *pen) error
		if outcome == chat.Accepted {
			compose = func(p *pen) error { return receive(ctx, p, ev) }
		}
		failed := f.fill(ctx, w, compose)
		if failed == nil && outcome == chat.Repeat {
			failed = f.restore(ctx, w, ev)
		}
		// It was heard, so the answer stays yes; only the page will not show it again.
		_ = w.broken("write a message on the stream", failed)
	}()
	outcome = hear(ctx, ev)
	switch outcome {
	case chat.Accepted, chat.Repeat:
		return outcome == chat.Repeat, nil
	case chat.Busy:
		return false, errBusy
	case chat.Ignored, chat.Refused:
	}
	return false, fault{status: http.StatusForbidden, say: "this bot does not take that message"}
}

// receive writes what the owner sent, and the start of the session above the first.
func receive(ctx context.Context, p *pen, ev chat.Event) error {
	if p.next == 0 {
		if _, err := put(ctx, p, sessionStarted, nothing{}); err != nil {
			return err
		}
	}
	said, ok := ev.Body.(chat.Said)
	if !ok {
		return note(ctx, p, ev.Message, sql.NullString{}, p.next)
	}
	index, err := put(ctx, p, messageReceived, worded{Message: ev.Message, Text: said.Text, ReplyTo: said.ReplyTo})
	if err != nil {
		return err
	}
	if err := note(ctx, p, ev.Message, sql.NullString{}, index); err != nil {
		return err
	}
	if err := p.close(ctx); err != nil {
		return err
	}
	_, err = p.tx.ExecContext(ctx, `UPDATE web_sessions SET title = ? WHERE id = ? AND title = ''`,
		title(said.Text), p.session)
	return err
}

// cancel ends the running turn of a session.
func (w *Web) cancel(rw http.ResponseWriter, r *http.Request) {
	session := r.PathValue("session")
	_, _, ok, err := w.bounds(r.Context(), session)
	if err != nil {
		refuse(rw, w.broken("find the session", err))
		return
	}
	if !ok {
		refuse(rw, errUnknown)
		return
	}
	status := "no_active_turn"
	if w.deps.Stop != nil && w.deps.Stop(r.Context(), placeOf(session)) {
		status = "accepted"
	}
	answer.JSON(rw, http.StatusAccepted, struct {
		OK      bool   `json:"ok"`
		Session string `json:"sessionId"`
		Status  string `json:"status"`
	}{true, session, status})
}

// broken ends an error of our own: it is logged here, and the client learns that it may try again.
func (w *Web) broken(doing string, err error) error {
	if err == nil {
		return nil
	}
	w.deps.Log.Error("web request failed", chat.KeyPlatform, Name, "doing", doing, chat.KeyErr, err.Error())
	return errBusy
}
