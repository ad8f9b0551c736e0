package serve_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/acp"
	"familiar/internal/agent/agenttest"
	"familiar/internal/llm/llmtest"
	"familiar/internal/toolserver"
	"familiar/internal/workspace"
)

// obedient does what the contract asks of an agent. Of its two MCP servers, ours is trusted and the notebook asks.
func obedient(held <-chan struct{}) llmtest.Script {
	told := func(words string, reply llmtest.Reply) llmtest.Rule {
		return llmtest.Rule{Name: words, Match: llmtest.Match{LastUser: words, NotAfter: true}, Reply: reply}
	}
	calls := func(name string) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: name, Arguments: `{"text":"tea"}`}}}
	}
	return llmtest.Script{Rules: []llmtest.Rule{
		told(agenttest.Say, llmtest.Reply{Text: "hello"}),
		told(agenttest.Think, llmtest.Reply{Thinking: "hidden", Text: "shown"}),
		told(agenttest.Tool, calls("familiar_note")),
		told(agenttest.Ask, calls("notebook_jot")),
		told(agenttest.Wait, llmtest.Reply{Text: "waiting for what does not come", HoldRest: held}),
		{Name: "picture", Match: llmtest.Match{HasImage: true}, Reply: llmtest.Reply{Text: "a picture"}},
	}, Default: &llmtest.Reply{Text: "done"}}
}

// environment is what the served agent gets in a process of its own, on the model at that address.
func environment(url string) map[string]string {
	return map[string]string{"LLM_PROVIDER": "compatible", "LLM_BASE_URL": url, "LLM_API_KEY": "key-of-the-test",
		"LLM_MODEL": "stub-1", "GORACE": "atexit_sleep_ms=0"}
}

// TestContract drives «familiar agent» with our own client, as a bot would: within walls, with its tools behind MCP.
func TestContract(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agent.Agent {
		held := make(chan struct{})
		model := llmtest.Start(t, obedient(held))
		t.Cleanup(func() { close(held) })
		cfg := acp.Defaults()
		cfg.Command, cfg.Args, cfg.Env = self(t), []string{"agent", "--trust", "familiar"}, environment(model.URL())
		cfg.MCPServers = []acp.MCPServer{{Name: "notebook", Transport: "stdio", Command: self(t),
			Env: map[string]string{notebook: "notes.txt", "GORACE": "atexit_sleep_ms=0"}}}
		folders, err := workspace.Open(t.TempDir(), "workspaces")
		if err != nil {
			t.Fatal(err)
		}
		a, err := acp.New(cfg, acp.Custom(cfg), acp.Deps{Log: quiet(), Enter: folders.Enter, Parent: os.Environ(),
			Door: doors(t).Admit})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if n := a.Living(); n != 0 {
				t.Errorf("%d agents are left", n)
			}
		})
		return a
	})
}

// doors serves tools on loopback until the test ends.
func doors(t *testing.T) *toolserver.Server {
	t.Helper()
	cfg := toolserver.Defaults()
	cfg.Port = 0
	s := toolserver.New(cfg, quiet())
	ctx, cancel := context.WithCancel(context.Background())
	if err := s.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); serving.Wait() })
	return s
}
