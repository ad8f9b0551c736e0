package loop

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/chat"
	"familiar/internal/llm"
	"familiar/internal/toolclient"
)

// onStreams is the server as a program: this one, started again.
func onStreams(t *testing.T) toolclient.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return toolclient.Server{Name: "else where", Command: self,
		Env: []string{"ELSEWHERE=set", "GORACE=atexit_sleep_ms=0"}}
}

func fetch(tool, path string) llm.Call { return call(tool, `{"path":"`+path+`"}`) }

// What a foreign tool brings lowers the turn that read it, and every later turn of the session.
func TestForeignToolsLowerTheTurn(t *testing.T) {
	m := steps([]llm.Part{fetch("elsewhere_fetch", "/x")})
	server := onWeb(t)
	server.Trusted = true
	r := open(t, Defaults(), m, Setup{Servers: []toolclient.Server{server}}, count(same))
	w := &agenttest.Watch{}
	_, turn, err := r.prompt(t.Context(), w, agent.Text("go"))
	if err != nil || turn.Standing.Now() != chat.Foreign {
		t.Errorf("%v, standing %s", err, turn.Standing.Now())
	}
	if got := results(t, m); got[0].Failed || !strings.HasPrefix(got[0].Text, "page /x") || len(w.Asks()) != 0 {
		t.Errorf("%+v, asked %d times", got, len(w.Asks()))
	}
	if _, turn, err = r.prompt(t.Context(), w, agent.Text("again")); err != nil || turn.Standing.Now() != chat.Foreign {
		t.Errorf("the next turn: %v, standing %s", err, turn.Standing.Now())
	}
	again := open(t, Defaults(), steps(), Setup{History: r.History()})
	if _, turn, err = again.prompt(t.Context(), w, agent.Text("later")); err != nil || turn.Standing.Now() != chat.Foreign {
		t.Errorf("a session that goes on: %v, standing %s", err, turn.Standing.Now())
	}
}

// Tools of an operator's server ask, unless the operator trusts it, and do nothing when they are refused.
func TestForeignToolsAsk(t *testing.T) {
	m := steps([]llm.Part{fetch("elsewhere_fetch", "/x")})
	r := open(t, Defaults(), m, Setup{Servers: []toolclient.Server{onWeb(t)}})
	w := &agenttest.Watch{}
	_, turn, err := r.prompt(t.Context(), w, agent.Text("go"))
	if err != nil || turn.Standing.Now() != chat.Owner {
		t.Errorf("%v, standing %s", err, turn.Standing.Now())
	}
	asks := w.Asks()
	if len(asks) != 1 || asks[0].Paths[0] != "/x" {
		t.Fatalf("asked %+v", asks)
	}
	if got := results(t, m); got[0].Text != sentences().Denied {
		t.Errorf("%+v", got)
	}
}

// A server on standard streams gets the environment that was written down and nothing else; what it answers is bounded;
// when it hangs or dies only its own calls fail; when the session ends it is gone.
func TestServerOnStreams(t *testing.T) {
	t.Setenv("ELSEWHERE_SECRET", "of this process")
	cfg := Defaults()
	cfg.ResultBytes, cfg.ToolTimeoutMs = 5000, 5_000
	if testing.Short() {
		t.Skip("starts processes")
	}
	const name = "else_where_fetch"
	m := steps([]llm.Part{fetch(name, "/x"), fetch(name, "/long"), fetch(name, "/image"), call(name, `{"path":7}`)},
		[]llm.Part{fetch(name, "/exit")}, []llm.Part{fetch(name, "/x")})
	left := false
	place := &toolclient.Place{Dir: t.TempDir(), Leave: func() error { left = true; return nil }}
	r := open(t, cfg, m, Setup{Servers: []toolclient.Server{onStreams(t)}, Place: place})
	if _, _, err := r.prompt(t.Context(), &agenttest.Watch{Answer: agenttest.Allow}, agent.Text("go")); err != nil {
		t.Fatal(err)
	}
	h := r.whole(t)
	var all []llm.Result
	images := 0
	for _, said := range h.Messages {
		for _, p := range said.Parts {
			switch p := p.(type) {
			case llm.Result:
				all = append(all, p)
			case llm.Image:
				images++
			}
		}
	}
	if len(all) != 6 || all[0].Text != "page /x set" || all[0].Failed {
		t.Fatalf("%+v", all)
	}
	if long := all[1].Text; len(long) > 5100 || !strings.HasPrefix(long, "éé") {
		t.Errorf("%d bytes of a long result", len(long))
	}
	if images != 1 || !all[3].Failed || !strings.Contains(all[3].Text, "does not fit") {
		t.Errorf("%d images, %+v", images, all[3])
	}
	for _, dead := range all[4:] {
		if !dead.Failed || dead.Text != sentences().Unavailable {
			t.Errorf("a call of a server that is gone: %+v", dead)
		}
	}
	if err := r.Close(); err != nil || !left {
		t.Errorf("%v; left %v", err, left)
	}
}

func TestAServerThatHangs(t *testing.T) {
	cfg := Defaults()
	cfg.ToolTimeoutMs = 50
	for name, server := range map[string]toolclient.Server{"streams": onStreams(t), "web": onWeb(t)} {
		t.Run(name, func(t *testing.T) {
			server.Trusted, server.Name = true, "s"
			m := steps([]llm.Part{fetch("s_fetch", "/hang")})
			r := open(t, cfg, m, Setup{Servers: []toolclient.Server{server}})
			if _, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("go")); err != nil {
				t.Fatal(err)
			}
			if got := results(t, m); got[0].Text != sentences().TimedOut {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A server that does not come up is left out; one that says nothing holds nobody up when the agent closes.
func TestServersThatDoNotComeUp(t *testing.T) {
	m := steps()
	silent := toolclient.Server{Name: "silent", Command: "/bin/sleep", Args: []string{"600"}}
	a := New(Defaults(), m, Deps{Log: quiet(), Connect: 50 * time.Millisecond, Servers: []toolclient.Server{
		{Name: "missing", Command: "/does/not/exist"}, {Name: "closed", URL: "http://127.0.0.1:1/mcp"}, silent, onWeb(t)}})
	r := opened(t, a, Setup{})
	if _, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("go")); err != nil {
		t.Fatal(err)
	}
	if offered := m.questions()[0].Tools; len(offered) != 1 || offered[0].Name != "elsewhere_fetch" {
		t.Errorf("%+v", offered)
	}

	slow := New(Defaults(), m, Deps{Log: quiet(), Connect: time.Hour, Servers: []toolclient.Server{silent}})
	began, failed := make(chan struct{}), make(chan error, 1)
	slow.deps.Place = func(agent.Opening) (toolclient.Place, error) { close(began); return toolclient.Place{}, nil }
	go func() {
		_, err := slow.Open(t.Context(), agent.Opening{})
		failed <- err
	}()
	<-began
	if err := slow.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; !errors.Is(err, chat.ErrShutdown) {
		t.Errorf("%v", err)
	}
}

// A model of another name is found, and one that nobody has is an error that names it.
func TestModels(t *testing.T) {
	other := steps()
	a := New(Defaults(), steps(), Deps{Log: quiet(), Model: func(name string) (llm.Model, error) {
		if name == "other" {
			return other, nil
		}
		return nil, errors.New("unknown")
	}})
	defer a.Close()
	if _, err := a.Open(t.Context(), agent.Opening{Model: "none"}); err == nil || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("%v", err)
	}
	s, err := a.OpenWith(t.Context(), agent.Opening{Model: "other"}, Setup{})
	if err != nil {
		t.Fatal(err)
	}
	turn := chat.NewTurn(chat.Talk, chat.Event{}, chat.Owner, when)
	if _, err := s.Prompt(t.Context(), turn, []agent.Block{agent.Text("go")}, &agenttest.Watch{}); err != nil || len(other.questions()) != 1 {
		t.Error(err)
	}
	third := steps()
	s.Use(third)
	if _, err := s.Prompt(context.Background(), turn, []agent.Block{agent.Text("go")}, &agenttest.Watch{}); err != nil || len(third.questions()) != 1 || s.Model() != third {
		t.Error(err)
	}
}
