package acp

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/workspace"
)

var sessions atomic.Int64

// opening is an opening of a session of its own for user.
func opening(user string) agent.Opening {
	return agent.Opening{Workspace: workspace.Ref{Platform: "web", User: user,
		Session: fmt.Sprintf("sess_%d", sessions.Add(1))}}
}

func open(t *testing.T, a *Agent, o agent.Opening) agent.Session {
	t.Helper()
	s, err := a.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func turnOf(user string) chat.Turn {
	return chat.NewTurn(chat.Talk, chat.Event{From: chat.Person{Platform: "web", ID: user}}, chat.Owner, time.Now())
}

// ask prompts a session and expects the turn to end well.
func ask(t *testing.T, s agent.Session, text string) *agenttest.Watch {
	t.Helper()
	w := &agenttest.Watch{}
	if _, err := s.Prompt(t.Context(), turnOf("ann"), []agent.Block{agent.Text(text)}, w); err != nil {
		t.Fatal(err)
	}
	return w
}

func says(steps ...script.Step) script.Script {
	return script.Script{Turns: []script.Turn{{Steps: steps}}}
}

// AF-97 AF-98: what an agent's environment holds, and what it never does.
func TestEnvironment(t *testing.T) {
	cfg := quick()
	cfg.Sandbox.AllowedEnvVars = []string{"BAR"}
	a := scripted(t, cfg, says(script.Step{Env: true}), func(d *Deps) {
		d.Parent = append(d.Parent, "DISCORD_TOKEN=d1", "MISSKEY_TOKEN=m1", "GITHUB_TOKEN=g1", "FOO=f1", "BAR=b1")
	})
	o := opening("ann")
	env := ask(t, open(t, a, o), "go").Said()
	for _, name := range []string{"DISCORD_TOKEN", "MISSKEY_TOKEN", "GITHUB_TOKEN", "FOO"} {
		if strings.Contains(env, name+"=") {
			t.Errorf("%s is in the environment", name)
		}
	}
	for _, want := range []string{"PATH=/", "HOME=/", "TMPDIR=/", "AGENT_WORKSPACE=/", "BAR=b1", "SESSION_ID=" + o.Workspace.Session} {
		if !strings.Contains(env, want) {
			t.Errorf("%s is not in the environment:\n%s", want, env)
		}
	}
}
