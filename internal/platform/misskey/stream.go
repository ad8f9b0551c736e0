package misskey

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
	beat        = 60 * time.Second // how often we ask whether the stream lives
	beatTime    = 20 * time.Second // how long it may take to answer
	connectTime = 15 * time.Second
	maxFrame    = 2 << 20
	waiting     = 256 // frames that were read and not taken yet
)

// subscription is our name for the channel main on a stream.
const subscription = "main"

// noteUpdated is the type of a frame that tells what became of a note that is watched.
const noteUpdated = "noteUpdated"

// frame is a message of the stream.
type frame struct {
	Type string `json:"type"`
	Body struct {
		ID   string          `json:"id"`
		Type string          `json:"type"`
		Body json.RawMessage `json:"body"`
	} `json:"body"`
}

// stream is one connection. It is made anew after each loss, and disposed of before.
type stream struct {
	conn   *websocket.Conn
	frames chan frame
	ended  chan struct{} // closed when it is lost; then err says why
	err    error

	stop  context.CancelFunc
	works sync.WaitGroup
	once  sync.Once
}

// dial opens a stream. No error of it holds the address, for the token is in it.
func dial(ctx context.Context, c *client) (*stream, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	address := "ws" + strings.TrimPrefix(c.base, "http") + "/streaming?i=" + url.QueryEscape(c.token.Reveal()) +
		"&_t=" + strconv.FormatInt(time.Now().UnixMilli(), 10)
	header := http.Header{"User-Agent": {"Familiar"}}
	conn, res, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if res != nil && res.Body != nil {
		_ = res.Body.Close() // nothing stands in it
	}
	switch {
	case err == nil:
		conn.SetReadLimit(maxFrame)
		return &stream{conn: conn, frames: make(chan frame, waiting), ended: make(chan struct{}), stop: func() {}}, nil
	case res != nil && res.StatusCode == http.StatusUnauthorized: // 403 may be a wall's; of our own account the next call tells
		return nil, platform.Fatal{Err: advised(refusal{path: "streaming", status: res.StatusCode, code: "AUTHENTICATION_FAILED"})}
	case res != nil:
		return nil, refusal{path: "streaming", status: res.StatusCode}
	}
	return nil, loss{path: "streaming", err: bare(err)}
}

// subscribe asks for what concerns us, and waits until the instance says that it comes.
func (s *stream) subscribe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	ask := `{"type":"connect","body":{"channel":"main","id":"` + subscription + `","pong":true}}`
	if err := s.say(ctx, ask); err != nil {
		return fmt.Errorf("subscribe to the stream: %w", err)
	}
	for {
		f, err := s.read(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return errors.New("subscribe to the stream: the instance does not answer; does the access token have the permission read:account?")
		}
		if err != nil {
			return fmt.Errorf("subscribe to the stream: %w", err)
		}
		switch {
		case f.Type == "connected" && f.Body.ID == subscription:
			return nil
		case f.ours() && len(s.frames) < cap(s.frames): // it came at once
			s.frames <- f
		}
	}
}

// read returns the next frame that is one.
func (s *stream) read(ctx context.Context) (frame, error) {
	for {
		_, raw, err := s.conn.Read(ctx)
		if err != nil {
			return frame{}, err
		}
		if f, err := decode[frame](raw); err == nil {
			return f, nil
		}
	}
}

// say sends a message.
func (s *stream) say(ctx context.Context, text string) error {
	return s.conn.Write(ctx, websocket.MessageText, []byte(text))
}

// ours reports whether a frame is one that we asked for.
func (f frame) ours() bool {
	return f.Type == "channel" && f.Body.ID == subscription || f.Type == noteUpdated
}

// start reads frames and asks from time to time whether the other side is there, until the stream is lost.
func (s *stream) start(ctx context.Context, every, patience time.Duration) {
	ctx, s.stop = context.WithCancel(ctx)
	s.works.Go(func() { s.pump(ctx) })
	s.works.Go(func() { s.heartbeat(ctx, every, patience) })
}

func (s *stream) pump(ctx context.Context) {
	for {
		f, err := s.read(ctx)
		if err != nil {
			s.lost(fmt.Errorf("the stream was lost: %w", err))
			return
		}
		if !f.ours() {
			continue
		}
		select {
		case s.frames <- f:
		case <-ctx.Done():
			return
		}
	}
}

func (s *stream) heartbeat(ctx context.Context, every, patience time.Duration) {
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
func (s *stream) lost(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.ended)
	})
}

// dispose ends the stream and waits until nothing of it works any more.
func (s *stream) dispose() {
	s.stop()
	_ = s.conn.CloseNow() // it may be closed already
	s.works.Wait()
}

func decode[T any](raw json.RawMessage) (v T, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}
