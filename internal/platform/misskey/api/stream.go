package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"familiar/internal/platform"
)

// Bounds of a stream.
const (
	connectTime = 15 * time.Second
	maxFrame    = 2 << 20
	waiting     = 256 // events that were read and not taken yet
)

// subscription is our name for the channel main on a stream.
const subscription = "main"

// Event is what a stream tells: something that concerns our account, or what became of a note that is watched.
type Event struct {
	Type string          // the instance's word, such as "mention"; of a note that is gone "deleted"
	Note string          // the id of the note that is watched; "" of what concerns our account
	Body json.RawMessage // of any shape
}

// frame is a message of the stream.
type frame struct {
	Type string `json:"type"`
	Body struct {
		ID   string          `json:"id"`
		Type string          `json:"type"`
		Body json.RawMessage `json:"body"`
	} `json:"body"`
}

// event returns what a frame tells; ok is false when it is nothing that we asked for.
func (f frame) event() (ev Event, ok bool) {
	ev = Event{Type: f.Body.Type, Body: f.Body.Body}
	if f.Type == "noteUpdated" {
		ev.Note = f.Body.ID
		return ev, ev.Note != ""
	}
	return ev, f.Type == "channel" && f.Body.ID == subscription
}

// Stream is one connection; one that is lost stays so, and whoever subscribed closes it and makes another. Start comes
// before Close and not beside it; everything else is safe for concurrent use.
type Stream struct {
	conn   *websocket.Conn
	events chan Event
	ended  chan struct{} // closed when it is lost; then err says why
	err    error

	stop  context.CancelFunc
	works sync.WaitGroup
	once  sync.Once
}

// Subscribe opens a stream and asks for what concerns our account. It blocks until the instance says that it comes, for
// 30 s at most. The error is platform.Fatal when the token is not valid, and may pass otherwise; none holds the address,
// for the token is in it. The caller closes the stream.
func (c *Client) Subscribe(ctx context.Context) (*Stream, error) {
	s, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.subscribe(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("subscribe to the stream: %w", err)
	}
	return s, nil
}

func (c *Client) dial(ctx context.Context) (*Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	address := "ws" + strings.TrimPrefix(c.origin, "http") + "/streaming?i=" + url.QueryEscape(c.token.Reveal()) +
		"&_t=" + strconv.FormatInt(time.Now().UnixMilli(), 10)
	header := http.Header{"User-Agent": {"Familiar"}}
	conn, res, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if res != nil && res.Body != nil {
		_ = res.Body.Close() // nothing stands in it
	}
	switch {
	case err == nil:
		conn.SetReadLimit(maxFrame)
		return &Stream{conn: conn, events: make(chan Event, waiting), ended: make(chan struct{}), stop: func() {}}, nil
	case res != nil && res.StatusCode == http.StatusUnauthorized: // 403 may be a wall's; of our own account the next call tells
		return nil, platform.Fatal{Err: advised(refusal{path: "streaming", status: res.StatusCode, code: "AUTHENTICATION_FAILED"})}
	case res != nil:
		return nil, refusal{path: "streaming", status: res.StatusCode}
	}
	return nil, loss{path: "streaming", err: bare(err)}
}

// subscribe asks for the channel main, and waits until the instance says that it comes.
func (s *Stream) subscribe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	if err := s.say(ctx, `{"type":"connect","body":{"channel":"main","id":"`+subscription+`","pong":true}}`); err != nil {
		return err
	}
	for {
		f, err := s.read(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return errors.New("the instance does not answer; does the access token have the permission read:account?")
		}
		if err != nil {
			return err
		}
		if f.Type == "connected" && f.Body.ID == subscription {
			return nil
		}
		if ev, ok := f.event(); ok && len(s.events) < cap(s.events) { // it came at once
			s.events <- ev
		}
	}
}

// Start reads what the stream tells, messages of 2 MiB at most, and asks every so often whether the other side is there:
// where that does not answer within patience, the stream is lost. Both end when it is lost or closed, or when ctx ends.
// Up to 256 events wait to be taken; then nothing is read, and a stream of which nothing is taken for long is lost too.
// To be called once; before, the other side waits.
func (s *Stream) Start(ctx context.Context, every, patience time.Duration) {
	ctx, s.stop = context.WithCancel(ctx)
	s.works.Go(func() { s.pump(ctx) })
	s.works.Go(func() { s.heartbeat(ctx, every, patience) })
}

// Events returns the channel of what the stream tells, in its order. It is never closed.
func (s *Stream) Events() <-chan Event { return s.events }

// Done returns the channel that is closed when the stream is lost.
func (s *Stream) Done() <-chan struct{} { return s.ended }

// Err says why the stream was lost. To be asked when Done is closed.
func (s *Stream) Err() error { return s.err }

// Watch asks to be told what becomes of a note. It blocks for 15 s at most. A stream that does not take it is lost, which
// shows by itself.
func (s *Stream) Watch(ctx context.Context, note string) { s.ask(ctx, "subNote", note) }

// Unwatch asks to be told no more of a note, as Watch does.
func (s *Stream) Unwatch(ctx context.Context, note string) { s.ask(ctx, "unsubNote", note) }

func (s *Stream) ask(ctx context.Context, what, note string) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	_ = s.say(ctx, fmt.Sprintf(`{"type":%q,"body":{"id":%q}}`, what, note))
}

// Close ends the stream and waits until nothing of it works any more.
func (s *Stream) Close() {
	s.stop()
	_ = s.conn.CloseNow() // it may be closed already
	s.works.Wait()
}

// read returns the next frame that is one.
func (s *Stream) read(ctx context.Context) (frame, error) {
	for {
		_, raw, err := s.conn.Read(ctx)
		if err != nil {
			return frame{}, err
		}
		var f frame
		if json.Unmarshal(raw, &f) == nil {
			return f, nil
		}
	}
}

// say sends a message.
func (s *Stream) say(ctx context.Context, text string) error {
	return s.conn.Write(ctx, websocket.MessageText, []byte(text))
}

func (s *Stream) pump(ctx context.Context) {
	for {
		f, err := s.read(ctx)
		if err != nil {
			s.lost(fmt.Errorf("the stream was lost: %w", err))
			return
		}
		ev, ok := f.event()
		if !ok {
			continue
		}
		select {
		case s.events <- ev:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Stream) heartbeat(ctx context.Context, every, patience time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		limit, cancel := context.WithTimeout(ctx, patience)
		err := s.conn.Ping(limit)
		cancel()
		if err != nil {
			s.lost(fmt.Errorf("the stream is dead: it did not answer within %s: %w", patience, err))
			return
		}
	}
}

// lost notes why the stream ended; the first reason counts.
func (s *Stream) lost(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.ended)
	})
}
