package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"familiar/internal/answer"
	"familiar/internal/chat"
)

// Path is where messages are posted to.
const Path = "/webhook/generic"

// Bounds of a request.
const (
	maxBody  = 1 << 20          // bytes
	bodyTime = 15 * time.Second // until all of it is here
	hearTime = 30 * time.Second // until an event is durable
)

// againAfter is how many seconds a sender should wait when there is no room.
const againAfter = "5"

// Routes adds the one route. It needs no login: the signature is the proof.
func (w *Webhook) Routes(mux *http.ServeMux) { mux.HandleFunc("POST "+Path, w.receive) }

// taken is the answer to an event.
type taken struct {
	Accepted  bool `json:"accepted"`
	Duplicate bool `json:"duplicate,omitempty"`
}

func (w *Webhook) receive(rw http.ResponseWriter, r *http.Request) {
	body, status, say := w.open(rw, r)
	if status != 0 {
		answer.Fail(rw, status, say)
		return
	}
	ev, err := eventOf(body, time.Now().UTC())
	if err != nil {
		answer.Fail(rw, http.StatusBadRequest, err.Error())
		return
	}
	switch w.hand(r.Context(), ev) {
	case chat.Accepted:
		answer.JSON(rw, http.StatusAccepted, taken{Accepted: true})
	case chat.Repeat:
		answer.JSON(rw, http.StatusAccepted, taken{Accepted: true, Duplicate: true})
	case chat.Ignored, chat.Refused:
		answer.JSON(rw, http.StatusAccepted, taken{}) // sending it again would change nothing
	case chat.Busy:
		rw.Header().Set("Retry-After", againAfter)
		answer.Fail(rw, http.StatusServiceUnavailable, "there is no room for it now; send it again, with the same messageId")
	}
}

// open returns the body of a request that proves itself; a status that is not 0 refuses it. How large it may be is
// decided first, and what is out of time or not signed at all is not read.
func (w *Webhook) open(rw http.ResponseWriter, r *http.Request) (body []byte, status int, say string) {
	const tooLarge = "the body is larger than 1 MiB"
	if r.ContentLength > maxBody {
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	}
	c, ok := claimOf(r.Header, time.Now())
	if !ok {
		return nil, http.StatusUnauthorized, "a signature of the last " + strconv.Itoa(int(drift/time.Second)) + " seconds is needed: " +
			headerTime + " (seconds since 1970) and " + headerSignature + " (hex HMAC-SHA256 over timestamp, dot, body)"
	}
	// A connection that knows no deadlines is one of a test.
	_ = http.NewResponseController(rw).SetReadDeadline(time.Now().Add(bodyTime))
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	case err != nil:
		return nil, http.StatusBadRequest, "the body did not arrive whole"
	case !c.holds(w.secret, body):
		return nil, http.StatusUnauthorized, "the signature is not of this body"
	}
	return body, 0, ""
}

// hand lets an event be heard. A sender that goes away does not undo what it sent.
func (w *Webhook) hand(ctx context.Context, ev chat.Event) chat.Outcome {
	hear, done, ok := w.ear.Hearing(ctx)
	if !ok {
		return chat.Busy
	}
	defer done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hearTime)
	defer cancel()
	defer w.lanes.enter(ev.Place.ID)()
	return hear(ctx, ev)
}
