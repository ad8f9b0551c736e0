package misskeytest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"
)

// stream is one connection of a client.
type stream struct {
	conn  *websocket.Conn
	out   chan []byte
	deaf  atomic.Bool
	stop  context.CancelFunc
	mu    sync.Mutex
	names map[string]bool // the client's names for its subscriptions of the channel main
	notes map[string]bool // the notes that it watches
}

// asked is what a client says.
type asked struct {
	Type string `json:"type"`
	Body struct {
		Channel string `json:"channel"`
		ID      string `json:"id"`
		Pong    bool   `json:"pong"`
	} `json:"body"`
}

func (in *Instance) serveStream(w http.ResponseWriter, r *http.Request) {
	if plan := in.planned("streaming"); plan != nil && in.misbehave(w, r, *plan) {
		return
	}
	if err := in.admit(r.URL.Query().Get("i")); err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	s := &stream{out: make(chan []byte, 10_000), stop: cancel, names: map[string]bool{}, notes: map[string]bool{}}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true,
		OnPingReceived: func(context.Context, []byte) bool { return !s.deaf.Load() }})
	if err != nil {
		return
	}
	s.conn = conn
	in.works.Add(1)
	defer in.works.Done()
	in.mu.Lock()
	in.streams[s] = true
	in.change()
	in.mu.Unlock()
	var writer sync.WaitGroup
	writer.Go(func() { s.write(ctx) })
	in.listenTo(ctx, s)
	cancel()
	writer.Wait()
	_ = conn.CloseNow() // it may be closed already
	in.mu.Lock()
	delete(in.streams, s)
	in.change()
	in.mu.Unlock()
}

func (s *stream) write(ctx context.Context) {
	for {
		select {
		case text := <-s.out:
			if s.deaf.Load() {
				continue
			}
			if s.conn.Write(ctx, websocket.MessageText, text) != nil {
				s.stop()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// listenTo takes what a client says until it goes.
func (in *Instance) listenTo(ctx context.Context, s *stream) {
	for {
		_, raw, err := s.conn.Read(ctx)
		if err != nil {
			return
		}
		var ask asked
		switch text := string(raw); {
		case text == "h" || text == "ping": // a client shows that it lives
		case json.Unmarshal(raw, &ask) != nil:
			in.complain("the stream: %q is no message", text)
		case ask.Type == "connect" && ask.Body.Channel == "main" && ask.Body.ID != "":
			s.mu.Lock()
			s.names[ask.Body.ID] = true
			s.mu.Unlock()
			if ask.Body.Pong {
				s.out <- mustJSON(said[named]{"connected", named{ask.Body.ID}})
			}
		case ask.Type == "subNote" && ask.Body.ID != "", ask.Type == "unsubNote" && ask.Body.ID != "":
			s.mu.Lock()
			s.notes[ask.Body.ID] = ask.Type == "subNote"
			s.mu.Unlock()
		case ask.Type == "disconnect":
			s.mu.Lock()
			delete(s.names, ask.Body.ID)
			s.mu.Unlock()
		default:
			in.complain("the stream: a message of the type %q, channel %q", ask.Type, ask.Body.Channel)
		}
	}
}

// publishTo sends an event of the channel main to everybody who subscribed.
func publishTo[T any](in *Instance, kind string, body T) {
	raw := mustJSON(body)
	if err := check("event", kind, raw); err != nil {
		in.fault("the fake's own event %s has not the published shape: %v", kind, err)
	}
	if in.mute {
		return
	}
	for s := range in.streams {
		s.mu.Lock()
		for name := range s.names {
			s.out <- mustJSON(said[event[T]]{"channel", event[T]{name, kind, body}})
		}
		s.mu.Unlock()
	}
}

// tellDeleted says that a note is gone to everybody who watches it.
func (in *Instance) tellDeleted(id string) {
	type gone struct {
		DeletedAt string `json:"deletedAt"`
	}
	for s := range in.streams {
		s.mu.Lock()
		if s.notes[id] && !in.mute {
			s.out <- mustJSON(said[event[gone]]{"noteUpdated", event[gone]{id, "deleted", gone{in.now()}}})
		}
		s.mu.Unlock()
	}
}

// Watched returns the notes that are watched on the streams that are open.
func (in *Instance) Watched() (all []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for s := range in.streams {
		s.mu.Lock()
		for id, yes := range s.notes {
			if yes {
				all = append(all, id)
			}
		}
		s.mu.Unlock()
	}
	return all
}

// What the instance says on a stream.
type (
	said[B any] struct {
		Type string `json:"type"`
		Body B      `json:"body"`
	}
	event[B any] struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		Body B      `json:"body"`
	}
	named struct {
		ID string `json:"id"`
	}
)

// Send says something on every stream, whatever it is.
func (in *Instance) Send(text string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for s := range in.streams {
		s.out <- []byte(text)
	}
}

// Settle waits until the instance has read all that clients have said on their streams so far. A stream that is lost
// meanwhile says nothing any more.
func (in *Instance) Settle(ctx context.Context) {
	in.mu.Lock()
	open := slices.Collect(maps.Keys(in.streams))
	in.mu.Unlock()
	for _, s := range open {
		_ = s.conn.Ping(ctx) // the answer comes behind what was said before
	}
}

// Streams returns how many streams are open, and subscribed to what concerns the bot.
func (in *Instance) Streams() (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for s := range in.streams {
		s.mu.Lock()
		n += min(len(s.names), 1)
		s.mu.Unlock()
	}
	return n
}

// Drop breaks every stream.
func (in *Instance) Drop() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for s := range in.streams {
		s.stop()
	}
}

// Deafen lets every open stream answer nothing any more, without closing it.
func (in *Instance) Deafen() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for s := range in.streams {
		s.deaf.Store(true)
	}
}
