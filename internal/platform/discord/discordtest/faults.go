package discordtest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// faults are the ways in which this Discord misbehaves.
type faults struct {
	heartbeat time.Duration
	deaf      bool // heartbeats are not answered
	held      bool // nothing is dispatched
	closed    bool // nobody may connect
	stuck     bool // no session can be taken up, and none is given up
	revoked   bool // the token is not ours any more
	forbidden int  // intents that the bot was not given
	answers   []Answer
	limit     Limit
}

// Answer is what the next request of a kind gets instead of what it asks for.
type Answer struct {
	Match  string // the beginning of method and path without /api/v10, as in "POST /channels/"
	Status int
	Header map[string]string
	Body   string
	Done   bool // what was asked for happens all the same: only the answer is lost
	Abort  bool // the connection is cut instead of an answer
	Times  int  // how often; 0 means once
}

// Limit is how many messages a channel takes in a time; the zero value is no limit.
type Limit struct {
	Count int
	Every time.Duration
}

type bucket struct {
	left  int
	reset time.Time
}

// Fail lets the next requests of a kind fail.
func (s *Server) Fail(a Answer) {
	s.set(func(f *faults) { a.Times = max(a.Times, 1); f.answers = append(f.answers, a) })
}

// Limit bounds the messages of each channel.
func (s *Server) Limit(l Limit) { s.set(func(f *faults) { f.limit = l }) }

// Deaf lets heartbeats go unanswered, or answers them again.
func (s *Server) Deaf(is bool) { s.set(func(f *faults) { f.deaf = is }) }

// Hold keeps events back until it is called with false.
func (s *Server) Hold(is bool) { s.set(func(f *faults) { f.held = is }) }

// Refuse lets nobody connect to the gateway, until it is called with false.
func (s *Server) Refuse(is bool) { s.set(func(f *faults) { f.closed = is }) }

// Stick lets every attempt to take up a session end without a reason.
func (s *Server) Stick() { s.set(func(f *faults) { f.stuck = true }) }

// Revoke makes the token worthless.
func (s *Server) Revoke() { s.set(func(f *faults) { f.revoked = true }) }

// Forbid takes intents from the bot, as when they are not switched on.
func (s *Server) Forbid(intents int) { s.set(func(f *faults) { f.forbidden = intents }) }

// ForbidContent takes the intent to read messages.
func (s *Server) ForbidContent() { s.Forbid(intentContent) }

// Beat sets the interval of heartbeats of connections to come.
func (s *Server) Beat(every time.Duration) { s.set(func(f *faults) { f.heartbeat = every }) }

// Drop closes every connection with a code; 0 cuts them without a word.
func (s *Server) Drop(code int) {
	s.kickAll(kick{code: websocket.StatusCode(code), abort: code == 0})
}

// Reconnect asks every client to connect anew.
func (s *Server) Reconnect() { s.kickAll(kick{op: opReconnect, data: json.RawMessage("null")}) }

// Invalidate tells every client that its session is invalid; when it cannot be resumed it is forgotten.
func (s *Server) Invalidate(resumable bool) {
	if !resumable {
		s.mu.Lock()
		clear(s.sessions)
		s.mu.Unlock()
	}
	s.kickAll(kick{op: opInvalid, data: json.RawMessage(strconv.FormatBool(resumable))})
}

// Say again: AskBeat asks for a heartbeat out of turn.
func (s *Server) AskBeat() { s.kickAll(kick{op: opHeartbeat, data: json.RawMessage("null")}) }

// Connected says how many clients are connected and known.
func (s *Server) Connected() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.sockets {
		if k.session != nil {
			n++
		}
	}
	return n
}

func (s *Server) set(do func(*faults)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.faults)
	s.tell()
}

func (s *Server) refuses() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.closed
}

func (s *Server) kickAll(k kick) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for to := range s.sockets {
		select {
		case to.kick <- k:
		default: // it is on its way out
		}
	}
}

// planned is the fault that a request meets, and whether there is one.
func (s *Server) planned(method, path string) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.faults.answers {
		a := &s.faults.answers[i]
		if !strings.HasPrefix(method+" "+path, a.Match) {
			continue
		}
		found := *a
		if a.Times--; a.Times == 0 {
			s.faults.answers = slices.Delete(s.faults.answers, i, i+1)
		}
		return found, true
	}
	return Answer{}, false
}

// spend takes one of a channel's allowance, and tells it in the headers.
func (s *Server) spend(w http.ResponseWriter, channel string) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := s.faults.limit
	if limit.Count == 0 {
		return nil
	}
	b, now := s.buckets[channel], time.Now()
	if b == nil || now.After(b.reset) {
		b = &bucket{limit.Count, now.Add(limit.Every)}
		s.buckets[channel] = b
	}
	after := b.reset.Sub(now).Seconds()
	head := w.Header()
	head.Set("X-RateLimit-Bucket", "messages")
	head.Set("X-RateLimit-Limit", strconv.Itoa(limit.Count))
	head.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", after))
	head.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(b.reset.UnixMilli())/1000))
	if b.left == 0 {
		head.Set("X-RateLimit-Remaining", "0")
		s.note("the rate limit of a channel was exceeded")
		return limited(after, false)
	}
	b.left--
	head.Set("X-RateLimit-Remaining", strconv.Itoa(b.left))
	return nil
}

// limited is the answer to too many requests.
func limited(after float64, global bool) *fault {
	scope := "user"
	if global {
		scope = "global"
	}
	f := no(http.StatusTooManyRequests, 0, "You are being rate limited.")
	f.After, f.Global = &after, &global
	f.header = map[string]string{"Retry-After": strconv.Itoa(int(math.Ceil(after))), "X-RateLimit-Scope": scope}
	if global {
		f.header["X-RateLimit-Global"] = "true"
	}
	return f
}
