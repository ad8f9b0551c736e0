package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/acp/profile"
)

// fake is the agent's end of a session, played by the test.
type fake struct {
	t    *testing.T
	in   *bufio.Reader // what we are sent
	pipe net.Conn      // the end of in
	out  net.Conn
	once sync.Once
	done chan struct{}
	how  error // how it ended, before done
}

// faked makes an agent whose processes are fakes; each new one is sent to the channel.
func faked(t *testing.T, cfg Config, log *slog.Logger) (*Agent, <-chan *fake) {
	t.Helper()
	made := make(chan *fake, 8)
	a := newAgent(cfg, profile.Profile{Name: "fake", Yolo: "yolo", Oddities: profile.Oddities{FilesThroughUs: true}}, Deps{Log: log, Enter: folders(t).Enter})
	a.spawn = func(_ context.Context, s *session) (*child, error) {
		ourIn, theirIn := net.Pipe()
		ourOut, theirOut := net.Pipe()
		f := &fake{t: t, in: bufio.NewReader(theirIn), pipe: theirIn, out: theirOut, done: make(chan struct{})}
		made <- f
		return &child{in: ourIn, out: ourOut, done: f.done, err: func() error { return f.how },
			stop: func() error { f.exit(nil); _ = ourIn.Close(); _ = ourOut.Close(); return nil }}, nil
	}
	return a, made
}

// exit ends the process.
func (f *fake) exit(how error) {
	f.once.Do(func() {
		f.how = how
		close(f.done)
		_ = f.out.Close()
		_ = f.pipe.Close()
	})
}

// next returns the next message that we are sent; an empty one when there will be no more.
func (f *fake) next() message {
	line, err := f.in.ReadBytes('\n')
	var m message
	if err == nil {
		if err := json.Unmarshal(line, &m); err != nil {
			f.t.Errorf("we were sent %q", line)
		}
	}
	return m
}

func (f *fake) line(format string, args ...any) {
	_, _ = fmt.Fprintf(f.out, format+"\n", args...) // the session may be closed meanwhile
}

func (f *fake) answer(m message, result string) {
	f.line(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// welcome answers initialize and session/new; new has more fields of the latter.
func (f *fake) welcome(more string) {
	f.answer(f.next(), `{"protocolVersion":1,"agentCapabilities":{}}`)
	f.answer(f.next(), `{"sessionId":"s1"`+more+`}`)
}

// serve answers what opens a session, until there is no more.
func (f *fake) serve() {
	for m := f.next(); m.Method != ""; m = f.next() {
		if m.Method == "initialize" {
			f.answer(m, `{"protocolVersion":1}`)
			continue
		}
		f.answer(m, `{"sessionId":"s1"}`)
	}
}

func (f *fake) chunk(text string) {
	f.line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":`+
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, text)
}

// opened is a session on a fake that has been welcomed.
func openFake(t *testing.T, a *Agent, made <-chan *fake, more string) (agent.Session, *fake) {
	t.Helper()
	greeted := make(chan *fake)
	go func() { f := <-made; f.welcome(more); greeted <- f }()
	s, err := a.Open(t.Context(), opening("ann"))
	if err != nil {
		t.Fatal(err)
	}
	return s, <-greeted
}

// records keeps what is logged.
type records struct {
	mu   sync.Mutex
	list []string // "LEVEL message key=value …"
}

func (r *records) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (r *records) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, string(line))
	return len(line), nil
}

// at returns the lines of a level.
func (r *records) at(level slog.Level) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for _, line := range r.list {
		if strings.Contains(line, "level="+level.String()+" ") {
			found = append(found, line)
		}
	}
	return found
}

func (r *records) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.list, "")
}
