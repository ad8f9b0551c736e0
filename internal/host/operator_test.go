package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"familiar/internal/agent/acp"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/llm/llmtest"
	"familiar/internal/process"
)

// operatorServer turns this process into an MCP server when it was started as one. Its tool reads files.
func operatorServer() {
	if os.Getenv("OPERATOR_SERVER") == "" {
		return
	}
	type args struct {
		Path string `json:"path"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "operator", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "look", Description: "Reads a file."},
		func(_ context.Context, _ *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
			text := strings.Join(os.Environ(), "\n")
			if a.Path != "" {
				content, err := os.ReadFile(a.Path)
				if err != nil {
					return nil, nil, err
				}
				text = string(content)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
		})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
	os.Exit(0)
}

// A server of the operator's stands where an agent would: an environment from nothing, and walls.
func TestAServerOfTheOperatorsIsConfined(t *testing.T) {
	if _, err := process.Confinable(); err != nil {
		t.Skip(err)
	}
	home := dir(t)
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte("hidden"), 0o600); err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(t.TempDir(), "named.txt")
	if err := os.WriteFile(named, []byte("for the server"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("A_SECRET_OF_THE_HOST", "hidden")
	look := func(path string) llmtest.ToolCall {
		return llmtest.ToolCall{Name: "op_look", Arguments: `{"path":"` + path + `"}`}
	}
	server := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{
		{Name: "env", Match: llmtest.Match{NotAfter: true, HasTool: "op_look"}, Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{look("")}}},
		{Name: "outside", Times: 1, Match: llmtest.Match{AfterTool: "op_look"}, Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{look(outside)}}},
		{Name: "named", Times: 1, Match: llmtest.Match{AfterTool: "op_look"}, Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{look(named)}}},
		{Name: "reply", Times: 1, Match: llmtest.Match{AfterTool: "op_look"}, Reply: llmtest.Reply{
			ToolCalls: []llmtest.ToolCall{{Name: "send-reply", Arguments: `{"message":"looked"}`}}}},
		{Name: "end", Match: llmtest.Match{AfterTool: "send-reply"}, Reply: llmtest.Reply{Text: "done"}},
	}})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := live(t, home, func(c *config.Config) {
		c.LLM.Provider, c.LLM.BaseURL = "compatible", server.URL()
		c.Agent.MCPServers = []acp.MCPServer{{Name: "op", Transport: "stdio", Command: self, Args: []string{named}, Trusted: true,
			Env: map[string]string{"OPERATOR_SERVER": "1", "GORACE": "atexit_sleep_ms=0"}}}
	})
	r.agent.Agent = r.openBuiltin()
	r.hears(event("dm1", "ann", "look around"), chat.Accepted)
	r.until("it answers", func() bool { return len(r.net.said()) == 1 })
	result := func(rule string) string {
		asked := server.Answered(rule)
		if len(asked) != 1 {
			t.Fatalf("%s was asked %d times", rule, len(asked))
		}
		return asked[0].ToolResult
	}
	if env := result("outside"); !strings.Contains(env, "OPERATOR_SERVER=1") || !strings.Contains(env, "HOME="+filepath.Join(home)) ||
		strings.Contains(env, "A_SECRET_OF_THE_HOST") {
		t.Errorf("its environment: %s", env)
	}
	if got := result("named"); !strings.Contains(got, "permission denied") {
		t.Errorf("a file outside of its walls: %s", got)
	}
	if got := result("reply"); got != "for the server" {
		t.Errorf("a file that the operator named: %s", got)
	}
}
