package toolserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a served server with a small set of tools.
type rig struct {
	*Server
	t    *testing.T
	box  *tool.Box
	logs *bytes.Buffer
	stop func()

	mu               sync.Mutex
	clock            time.Time
	sent             []string // texts that send-reply let out
	fail             error    // what send-reply fails with, once
	saves            int
	loops            int
	refused          []string // the tools that a session does not have and was asked for
	entered, release chan struct{}
}

type replyArgs struct {
	Message string `json:"message" jsonschema:"what to say"`
}

type saved struct {
	Count int `json:"count"`
}

type none struct{}

// seen remembers what was refused because it is not there.
func (r *rig) seen(_ chat.Turn, c tool.Call) {
	var fault tool.Fault
	if errors.As(c.Err, &fault) && fault.Status == http.StatusNotFound {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refused = append(r.refused, c.Tool)
	}
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, clock: time.Unix(1_800_000_000, 0), logs: &bytes.Buffer{},
		entered: make(chan struct{}, 16), release: make(chan struct{})}
	r.box = tool.NewBox(r.seen,
		tool.New(tool.Tool{Name: "send-reply", Doc: "Say something.", Effect: tool.Speaks, Attempts: 3}, r.reply),
		tool.New(tool.Tool{Name: "memory-save", Doc: "Keep something.", Effect: tool.Writes}, r.save),
		tool.New(tool.Tool{Name: "send-file", Effect: tool.Speaks}, r.save),
		tool.New(tool.Tool{Name: "breaks", Effect: tool.Reads}, func(context.Context, chat.Turn, none) (none, error) {
			return none{}, errors.New("disk /secret/place is full")
		}),
		tool.New(tool.Tool{Name: "waits", Effect: tool.Reads}, r.wait))
	cfg := Defaults()
	cfg.Port = 0
	r.Server = New(cfg, slog.New(slog.NewTextHandler(&locked{w: r.logs}, nil)))
	r.now = r.time
	if err := r.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	ended := make(chan error, 1)
	go func() { ended <- r.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return r
}

// locked lets the server and the test use one buffer.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (r *rig) time() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock
}

func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock = r.clock.Add(d)
}

func (r *rig) reply(_ context.Context, _ chat.Turn, a replyArgs) (saved, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.TrimSpace(a.Message) == "" {
		return saved{}, tool.Bad("message is blank")
	}
	if err := r.fail; err != nil {
		r.fail = nil
		return saved{}, err
	}
	if len(r.sent) > 0 {
		return saved{}, tool.Fault{Status: 429, Say: "the reply was sent already"}
	}
	r.sent = append(r.sent, a.Message)
	return saved{len(r.sent)}, nil
}

func (r *rig) save(context.Context, chat.Turn, none) (saved, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saves++
	return saved{r.saves}, nil
}

// wait blocks until it is released, or its turn ends.
func (r *rig) wait(ctx context.Context, _ chat.Turn, _ none) (saved, error) {
	r.entered <- struct{}{}
	select {
	case <-r.release:
	case <-ctx.Done():
		return saved{}, ctx.Err()
	}
	return r.save(ctx, chat.Turn{}, none{})
}

// seat is one session with a running turn and an open door.
type seat struct {
	*tool.Seat
	tool.Door
	r *rig
}

func (r *rig) admit() seat {
	r.t.Helper()
	var names []string
	for _, t := range r.box.Tools() {
		names = append(names, t.Name)
	}
	s := r.box.Seat(tool.NewSession(r.time()), names, func(string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.loops++
	})
	s.Begin(r.t.Context(), chat.NewTurn(chat.Talk, chat.Event{}, chat.Owner, r.time()))
	door, err := r.Admit(s)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(door.Close)
	return seat{s, door, r}
}

// call makes a proper call of the skill API.
func (s seat) call(name, params string) answer {
	body := `{"sessionId":"` + s.Session() + `","parameters":` + params + `}`
	return s.r.post(http.MethodPost, "/api/skill/"+name, body, "Bearer "+s.Token)
}

// post makes any request, and checks what all answers promise: the status is in the body too.
func (r *rig) post(method, path, body, auth string) answer {
	r.t.Helper()
	req, err := http.NewRequest(method, r.URL()+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if auth != "" {
		req.Header.Set("Authorization", auth)
	}
	return r.do(req)
}

func (r *rig) do(req *http.Request) answer {
	r.t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Error(err)
		return answer{}
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Error(err)
	}
	if res.Header.Get("Access-Control-Allow-Origin") != "" {
		r.t.Error("a web page may read this")
	}
	if res.StatusCode == http.StatusNoContent {
		return answer{StatusCode: 204}
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		r.t.Errorf("the answer is not JSON: %q", raw)
	}
	if a.StatusCode != res.StatusCode || a.Success != (a.StatusCode == 200) || a.Success == (a.Error != "") {
		r.t.Errorf("status %d, answer %s", res.StatusCode, raw)
	}
	return a
}

func want(t *testing.T, a answer, status int) {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("status %d (%s), want %d", a.StatusCode, a.Error, status)
	}
}
