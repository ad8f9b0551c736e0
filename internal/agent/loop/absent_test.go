package loop

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/agent"
	"familiar/internal/toolclient"
)

// A server of the operator that hangs costs one session its time, and the others of the next five minutes nothing; one
// that a session brings itself is tried each time.
func TestAServerThatHangsIsLeftAlone(t *testing.T) {
	var tried atomic.Int64
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		tried.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // only then does a server notice that its client has left
		<-r.Context().Done()
	}))
	t.Cleanup(hangs.Close)
	dead := toolclient.Server{Name: "dead", URL: hangs.URL}
	now, log := when, &bytes.Buffer{}
	// The server that is there needs a moment too, so that a busy machine does not make it look dead.
	a := New(Defaults(), steps(), Deps{Log: slog.New(slog.NewTextHandler(log, nil)), Connect: 2 * time.Second,
		Servers: []toolclient.Server{dead, onWeb(t)}, Now: func() time.Time { return now }})
	defer a.Close()
	session := func(setup Setup, asked bool, warnings int) {
		t.Helper()
		before := tried.Load()
		s, err := a.OpenWith(t.Context(), agent.Opening{}, setup)
		if err != nil {
			t.Fatal(err)
		}
		if tools := s.tools.offered; len(tools) != 1 || tools[0].Name != "elsewhere_fetch" {
			t.Errorf("%+v", tools)
		}
		if got, told := tried.Load() > before, strings.Count(log.String(), "level=WARN"); got != asked || told != warnings {
			t.Errorf("asked: %v, want %v; %d warnings, want %d", got, asked, told, warnings)
		}
	}
	session(Setup{}, true, 1)
	now = now.Add(absentTime - 1)
	session(Setup{}, false, 1)
	session(Setup{Servers: []toolclient.Server{dead}}, true, 2)
	now = now.Add(1)
	session(Setup{}, true, 3)
	session(Setup{}, false, 3)
}
