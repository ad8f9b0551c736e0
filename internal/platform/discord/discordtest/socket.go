package discordtest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// The operations and codes of the gateway.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opPresence  = 3
	opResume    = 6
	opReconnect = 7
	opMembers   = 8
	opInvalid   = 9
	opHello     = 10
	opAck       = 11

	closeUnknownOp     = 4001
	closeDecode        = 4002
	closeNotAuthed     = 4003
	closeBadToken      = 4004
	closeAlreadyAuthed = 4005
	closeBadSeq        = 4007
	closeRate          = 4008
	closeTimeout       = 4009
	closeBadIntents    = 4013
	closeBadVersion    = 4012
)

// The bounds of what one connection may send.
const (
	mostFrames = 120 // in a minute
	mostBytes  = 4096
)

// socket is one connection of a client.
type socket struct {
	*Server
	conn *websocket.Conn
	kick chan kick // the server ends it, or says something out of turn

	session *session // nil before it identified; guarded by the server's lock
	sent    int64    // the last event that went out
	beat    time.Time
	frames  []time.Time
	ended   atomic.Bool // by the server

	write sync.Mutex
}

// kick is something that the server does to a connection.
type kick struct {
	code  websocket.StatusCode // 0: it says op instead
	op    int
	data  json.RawMessage
	abort bool // without a word
}

func (s *Server) socketURL() string { return "ws://" + s.listener.Addr().String() + "/gateway" }

// gateway serves one connection to its end.
func (s *Server) gateway(w http.ResponseWriter, r *http.Request) {
	if s.refuses() {
		http.Error(w, "unavailable", http.StatusServiceUnavailable)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	conn.SetReadLimit(1 << 20)
	k := &socket{Server: s, conn: conn, kick: make(chan kick, 16), beat: time.Now()}
	s.mu.Lock()
	s.sockets[k] = true
	interval := s.faults.heartbeat
	s.tell()
	s.mu.Unlock()
	ctx, end := context.WithCancel(s.ctx)
	var parts sync.WaitGroup
	defer func() {
		end()
		_ = conn.CloseNow()
		parts.Wait()
		s.mu.Lock()
		delete(s.sockets, k)
		s.tell()
		s.mu.Unlock()
	}()
	if q := r.URL.Query(); q.Get("v") != "10" || q.Get("encoding") != "json" {
		s.problem("the gateway was asked for version %q, encoding %q", q.Get("v"), q.Get("encoding"))
		k.close(closeBadVersion, "Invalid API version")
		return
	}
	hello, _ := json.Marshal(map[string]int64{"heartbeat_interval": interval.Milliseconds()}) // cannot fail
	if k.say(ctx, opHello, hello, nil) != nil {
		return
	}
	parts.Go(func() { k.push(ctx); end() })
	parts.Go(func() { k.watch(ctx, interval) })
	k.read(ctx)
}

// close says good-bye with a code.
func (k *socket) close(code websocket.StatusCode, why string) {
	k.ended.Store(true)
	_ = k.conn.Close(code, why)
}

// say writes one frame.
func (k *socket) say(ctx context.Context, op int, data json.RawMessage, of *event) error {
	f := struct {
		Op   int             `json:"op"`
		Data json.RawMessage `json:"d"`
		Seq  *int64          `json:"s"`
		Type *string         `json:"t"`
	}{Op: op, Data: data}
	if of != nil {
		f.Seq, f.Type = &of.seq, &of.kind
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	k.write.Lock()
	defer k.write.Unlock()
	return k.conn.Write(ctx, websocket.MessageText, text)
}

// push sends what is dispatched, and does what the server asks.
func (k *socket) push(ctx context.Context) {
	for {
		k.mu.Lock()
		changed, next := k.changed, k.next()
		k.mu.Unlock()
		if next != nil {
			if k.say(ctx, opDispatch, next.data, next) != nil {
				return
			}
			k.mu.Lock()
			k.sent = max(k.sent, next.seq)
			k.tell()
			k.mu.Unlock()
			continue
		}
		select {
		case <-changed:
		case do := <-k.kick:
			switch {
			case do.abort:
				_ = k.conn.CloseNow()
				return
			case do.code != 0:
				k.close(do.code, "")
				return
			default:
				if k.say(ctx, do.op, do.data, nil) != nil {
					return
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// next is the event that is to be sent. The lock is held.
func (k *socket) next() *event {
	if k.session == nil || k.faults.held || k.sent >= int64(len(k.session.log)) {
		return nil
	}
	e := k.session.log[k.sent]
	return &e
}

// watch ends a connection whose client does not beat.
func (k *socket) watch(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		k.mu.Lock()
		late := time.Since(k.beat) > 2*interval+time.Second
		k.mu.Unlock()
		if late {
			k.problem("no heartbeat for two intervals")
			k.close(closeTimeout, "Session timed out.")
			return
		}
	}
}

// read takes frames until the connection ends.
func (k *socket) read(ctx context.Context) {
	for {
		_, text, err := k.conn.Read(ctx)
		if err != nil {
			k.left(err)
			return
		}
		if code, why := k.take(ctx, text); code != 0 {
			k.close(code, why)
			return
		}
	}
}

// left forgets the session of a client that said good-bye.
func (k *socket) left(err error) {
	code := websocket.CloseStatus(err)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.session != nil && !k.ended.Load() && (code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway) {
		delete(k.sessions, k.session.id)
	}
}

// take does what one frame asks. A code ends the connection.
func (k *socket) take(ctx context.Context, text []byte) (websocket.StatusCode, string) {
	var f struct {
		Op   *int            `json:"op"`
		Data json.RawMessage `json:"d"`
	}
	k.frames = append(k.frames, time.Now())
	switch {
	case len(k.frames) > mostFrames && time.Since(k.frames[len(k.frames)-mostFrames-1]) < time.Minute:
		k.problem("more than %d frames in a minute", mostFrames)
		return closeRate, "Rate limited."
	case len(text) > mostBytes:
		k.problem("a frame of %d bytes", len(text))
		return closeDecode, "Payload too large."
	}
	if err := json.Unmarshal(text, &f); err != nil || f.Op == nil {
		k.problem("a frame that is none: %s", text)
		return closeDecode, "Error while decoding payload."
	}
	k.mu.Lock()
	known := k.session != nil
	k.mu.Unlock()
	switch *f.Op {
	case opHeartbeat:
		return k.heartbeat(ctx, f.Data)
	case opIdentify:
		if known {
			k.problem("identified twice")
			return closeAlreadyAuthed, "Already authenticated."
		}
		return k.identify(f.Data)
	case opResume:
		if known {
			k.problem("resumed what runs")
			return closeAlreadyAuthed, "Already authenticated."
		}
		return k.resume(ctx, f.Data)
	case opPresence, opMembers:
		if !known {
			k.problem("operation %d before identifying", *f.Op)
			return closeNotAuthed, "Not authenticated."
		}
		return 0, ""
	}
	k.problem("operation %d", *f.Op)
	return closeUnknownOp, "Unknown opcode."
}

func (k *socket) heartbeat(ctx context.Context, data json.RawMessage) (websocket.StatusCode, string) {
	var seq *int64
	if err := json.Unmarshal(data, &seq); err != nil {
		k.problem("a heartbeat with %s", data)
		return closeDecode, "Error while decoding payload."
	}
	k.mu.Lock()
	k.beat = time.Now()
	k.tally.Heartbeats++
	deaf := k.faults.deaf
	if seq != nil && k.session != nil && *seq > k.sent {
		k.note("a heartbeat names event %d of %d", *seq, k.sent)
	}
	k.tell()
	k.mu.Unlock()
	if !deaf && k.say(ctx, opAck, nil, nil) != nil {
		return 0, "" // the reader will see it
	}
	return 0, ""
}

func (k *socket) identify(data json.RawMessage) (websocket.StatusCode, string) {
	var hi struct {
		Token      string `json:"token"`
		Intents    *int   `json:"intents"`
		Properties *struct {
			OS      string `json:"os"`
			Browser string `json:"browser"`
			Device  string `json:"device"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(data, &hi); err != nil {
		return closeDecode, "Error while decoding payload."
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case hi.Token != k.token || k.faults.revoked:
		return closeBadToken, "Authentication failed."
	case hi.Intents == nil || *hi.Intents < 0 || *hi.Intents >= 1<<26:
		k.note("identified with impossible intents")
		return closeBadIntents, "Invalid intent(s)."
	case hi.Properties == nil || hi.Properties.OS == "" || hi.Properties.Browser == "" || hi.Properties.Device == "":
		k.note("identified without properties")
	case *hi.Intents&k.faults.forbidden != 0:
		return 4014, "Disallowed intent(s)."
	}
	k.tally.Identified++
	k.session, k.sent = k.newSession(*hi.Intents), 0
	k.tell()
	return 0, ""
}

func (k *socket) resume(ctx context.Context, data json.RawMessage) (websocket.StatusCode, string) {
	var again struct {
		Token   string `json:"token"`
		Session string `json:"session_id"`
		Seq     *int64 `json:"seq"`
	}
	if err := json.Unmarshal(data, &again); err != nil || again.Seq == nil {
		k.problem("resumed with %s", errors.Join(err, errors.New("no seq")))
		return closeDecode, "Error while decoding payload."
	}
	k.mu.Lock()
	t := k.sessions[again.Session]
	bad, stuck := again.Token != k.token || k.faults.revoked, k.faults.stuck
	k.mu.Unlock()
	switch {
	case stuck:
		return 4000, "Unknown error."
	case bad:
		return closeBadToken, "Authentication failed."
	case t == nil:
		if k.say(ctx, opInvalid, json.RawMessage("false"), nil) != nil {
			return 0, ""
		}
		return 0, ""
	case *again.Seq < 0 || *again.Seq > int64(len(t.log)):
		k.problem("resumed at %d of %d", *again.Seq, len(t.log))
		return closeBadSeq, "Invalid seq."
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tally.Resumed++
	t.add("RESUMED", json.RawMessage(`{}`))
	k.session, k.sent = t, *again.Seq
	k.tell()
	return 0, ""
}

// bearer is the token of a request.
func bearer(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bot ")
	return token
}
