package serve_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"familiar/internal/cli"
	"familiar/internal/llm/llmtest"
)

// notebook makes this test's executable an MCP server on standard streams; it names the file that notes go to.
const notebook = "FAMILIAR_TEST_NOTEBOOK"

func TestMain(m *testing.M) {
	if file := os.Getenv(notebook); file != "" {
		serveNotebook(file)
	}
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// serveNotebook serves a tool that adds a line to a file, until its input ends.
func serveNotebook(file string) {
	type args struct {
		Text string `json:"text"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "notebook", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "jot", Description: "Notes something down."},
		func(_ context.Context, _ *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = f.WriteString(a.Text + "\n")
			}
			if err == nil {
				err = f.Close()
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "noted " + a.Text}}}, nil, err
		})
	if s.Run(context.Background(), &mcp.StdioTransport{}) != nil {
		os.Exit(3)
	}
	os.Exit(0)
}

// self is this test's executable.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// notes returns what was noted in a file.
func notes(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// mind is the model of these tests: it does what it is told in so many words.
func mind(held <-chan struct{}) llmtest.Script {
	call := func(name, args string) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: name, Arguments: args}}}
	}
	told := func(words string, reply llmtest.Reply) llmtest.Rule {
		return llmtest.Rule{Name: words, Match: llmtest.Match{LastUser: words, NotAfter: true}, Reply: reply}
	}
	return llmtest.Script{Models: []string{"stub-1", "stub-2"}, Rules: []llmtest.Rule{
		told("JOT", call("notebook_jot", `{"text":"tea"}`)),
		told("WRITE", call("write_file", `{"path":"a.txt","content":"new"}`)),
		told("READ", call("read_file", `{"path":"a.txt","line":1,"limit":2}`)),
		told("ESCAPE", call("read_file", `{"path":"../secret.txt"}`)),
		told("PLAN", call("update_plan", `{"steps":["[x] look","[>] think","[ ] say"]}`)),
		told("THINK", llmtest.Reply{Thinking: "hidden", Text: "shown"}),
		told("HOLD", llmtest.Reply{Text: "waiting for a long, long time", HoldRest: held}),
		told("FAIL", llmtest.Reply{Status: 400, Error: "no"}),
		{Name: "picture", Match: llmtest.Match{HasImage: true, NotAfter: true}, Reply: llmtest.Reply{Text: "a picture"}},
		{Name: "result", Match: llmtest.Match{AfterTool: "."}, Reply: llmtest.Reply{Text: "it said: {{tool_result}}"}},
	}, Default: &llmtest.Reply{Text: "hello"}}
}

// folder is a folder with one file in it.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("old\nlines\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
