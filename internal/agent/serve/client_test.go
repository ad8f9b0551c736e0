package serve_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent/serve"
	"familiar/internal/llm"
	"familiar/internal/llm/llmtest"
)

// client is a client of the Go SDK that keeps what it saw.
type client struct {
	t      *testing.T
	pick   sdk.PermissionOptionKind // how permissions are answered; "" cancels them
	answer func() sdk.PermissionOptionKind

	mu    sync.Mutex
	saw   []sdk.SessionUpdate
	asked []sdk.RequestPermissionRequest
	began chan struct{} // gets one when words of the agent come
}

func (c *client) ReadTextFile(_ context.Context, p sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	text, err := os.ReadFile(p.Path)
	if err != nil {
		return sdk.ReadTextFileResponse{}, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	if p.Limit != nil {
		lines = lines[:*p.Limit]
	}
	return sdk.ReadTextFileResponse{Content: strings.Join(lines, "")}, nil
}

func (c *client) WriteTextFile(_ context.Context, p sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	return sdk.WriteTextFileResponse{}, os.WriteFile(p.Path, []byte(p.Content), 0o600)
}

func (c *client) RequestPermission(_ context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	c.mu.Lock()
	c.asked = append(c.asked, p)
	pick := c.pick
	c.mu.Unlock()
	if c.answer != nil {
		pick = c.answer()
	}
	for _, o := range p.Options {
		if o.Kind == pick {
			return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

func (c *client) SessionUpdate(_ context.Context, p sdk.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saw = append(c.saw, p.Update)
	if p.Update.AgentMessageChunk != nil {
		select {
		case c.began <- struct{}{}:
		default:
		}
	}
	return nil
}

var errNone = errors.New("there are no terminals")

func (*client) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	return sdk.CreateTerminalResponse{}, errNone
}
func (*client) KillTerminal(context.Context, sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	return sdk.KillTerminalResponse{}, errNone
}
func (*client) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	return sdk.TerminalOutputResponse{}, errNone
}
func (*client) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	return sdk.ReleaseTerminalResponse{}, errNone
}
func (*client) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	return sdk.WaitForTerminalExitResponse{}, errNone
}

// updates forgets and returns what was seen so far.
func (c *client) updates() []sdk.SessionUpdate {
	c.mu.Lock()
	defer c.mu.Unlock()
	saw := c.saw
	c.saw = nil
	return saw
}

// said joins the agent's words.
func said(updates []sdk.SessionUpdate) string {
	var b strings.Builder
	for _, u := range updates {
		if u.AgentMessageChunk != nil {
			b.WriteString(u.AgentMessageChunk.Content.Text.Text)
		}
	}
	return b.String()
}

// rig is a served agent and a client of it.
type rig struct {
	*sdk.ClientSideConnection
	client *client
	dir    string // of the sessions
	held   chan struct{}
	leave  func() // closes the agent's input and waits for its end
}

// start serves an agent whose model is scripted.
func start(t *testing.T, dir string, change func(*serve.Options)) *rig {
	t.Helper()
	held := make(chan struct{})
	server := llmtest.Start(t, mind(held))
	section := llm.Defaults()
	section.Provider, section.BaseURL = "compatible", server.URL()
	section.Model = "stub-1"
	o := serve.Options{Log: quiet(), Models: serve.NewProviders(section, llm.Deps{}), Dir: dir, Environ: os.Environ(),
		Version: "test"}
	if change != nil {
		change(&o)
	}
	c := &client{t: t, began: make(chan struct{}, 1), pick: sdk.PermissionOptionKindAllowOnce}
	toAgent, fromClient := io.Pipe()
	toClient, fromAgent := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- serve.Serve(context.Background(), toAgent, fromAgent, o)
		_ = fromAgent.Close()
	}()
	var once sync.Once
	r := &rig{ClientSideConnection: sdk.NewClientSideConnection(c, fromClient, toClient), client: c, dir: dir, held: held}
	r.SetLogger(quiet())
	r.leave = func() {
		once.Do(func() {
			_ = fromClient.Close()
			if err := await(t, "the end of the agent", served); err != nil {
				t.Error(err)
			}
			close(held)
		})
	}
	t.Cleanup(r.leave)
	if _, err := r.Initialize(t.Context(), sdk.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: sdk.ClientCapabilities{
		Fs: sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}}}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) open(t *testing.T, cwd string, servers ...sdk.McpServer) sdk.SessionId {
	t.Helper()
	made, err := r.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: cwd, McpServers: append([]sdk.McpServer{}, servers...)})
	if err != nil {
		t.Fatal(err)
	}
	return made.SessionId
}

// ask prompts, and returns the answer and what was seen of the turn.
func (r *rig) ask(t *testing.T, id sdk.SessionId, blocks ...sdk.ContentBlock) (sdk.PromptResponse, []sdk.SessionUpdate) {
	t.Helper()
	r.client.updates()
	answer, err := r.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: blocks})
	if err != nil {
		t.Fatal(err)
	}
	return answer, r.client.updates()
}

func (r *rig) say(t *testing.T, id sdk.SessionId, text string) (sdk.PromptResponse, []sdk.SessionUpdate) {
	t.Helper()
	return r.ask(t, id, sdk.TextBlock(text))
}

// jotter is the MCP server of these tests, which notes into a file.
func jotter(t *testing.T, file string) sdk.McpServer {
	return sdk.McpServer{Stdio: &sdk.McpServerStdio{Name: "notebook", Command: self(t), Args: []string{},
		Env: []sdk.EnvVariable{{Name: notebook, Value: file}, {Name: "GORACE", Value: "atexit_sleep_ms=0"}}}}
}

// patience bounds every wait. It decides nothing: only a broken agent meets it.
const patience = time.Minute

func await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: not in %s", what, patience)
		panic("unreachable")
	}
}
