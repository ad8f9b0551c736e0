package script

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"familiar/internal/agent"
)

// outside is the stage in a process of its own.
type outside struct{ v *server }

func (o outside) update(u agent.Update) { o.v.show(u) }

// mcpServer is a server as session/new hands it over.
type mcpServer struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	Headers []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"headers"`
}

// RoundTrip adds the server's headers.
func (m mcpServer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for _, h := range m.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// call calls a tool over MCP.
func (o outside) call(ctx context.Context, name string, args json.RawMessage) (string, error) {
	o.v.mu.Lock()
	server := o.v.talk.mcp
	o.v.mu.Unlock()
	if server.URL == "" {
		return "", fmt.Errorf("call %s: there is no MCP server", name)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "script", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: server.URL,
		HTTPClient: &http.Client{Transport: server}}, nil)
	if err != nil {
		return "", fmt.Errorf("call %s: %w", name, err)
	}
	defer session.Close()
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", fmt.Errorf("call %s: %w", name, err)
	}
	if result.IsError {
		return "", fmt.Errorf("call %s: refused", name)
	}
	var said strings.Builder
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			said.WriteString(text.Text)
		}
	}
	return said.String(), nil
}

// ask asks the client for permission.
func (o outside) ask(ctx context.Context, ask agent.Ask) agent.Answer {
	type option struct {
		ID   string           `json:"optionId"`
		Name string           `json:"name"`
		Kind agent.OptionKind `json:"kind"`
	}
	type location struct {
		Path string `json:"path"`
	}
	var p struct {
		Session string   `json:"sessionId"`
		Options []option `json:"options"`
		Call    struct {
			ID        string          `json:"toolCallId"`
			Title     string          `json:"title"`
			Kind      agent.ToolKind  `json:"kind,omitempty"`
			Locations []location      `json:"locations,omitempty"`
			RawInput  json.RawMessage `json:"rawInput,omitempty"`
		} `json:"toolCall"`
	}
	p.Session = o.v.session()
	p.Call.ID, p.Call.Title, p.Call.Kind, p.Call.RawInput = ask.Call, ask.Title, ask.Kind, ask.RawInput
	for _, path := range ask.Paths {
		p.Call.Locations = append(p.Call.Locations, location{path})
	}
	for _, opt := range ask.Options {
		p.Options = append(p.Options, option{opt.ID, opt.Name, opt.Kind})
	}
	params, _ := json.Marshal(p)
	// The answer to a permission request comes also when the turn was cancelled: «cancelled».
	raw, err := o.v.request(context.WithoutCancel(ctx), "session/request_permission", params)
	var answer struct {
		Outcome struct {
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	if err != nil || json.Unmarshal(raw, &answer) != nil {
		return agent.Answer{}
	}
	return agent.Answer{Option: answer.Outcome.OptionID}
}

// own does what only a process can.
func (o outside) own(ctx context.Context, step Step) error {
	say := func(text string) { o.update(agent.Message{Text: text}) }
	switch {
	case step.Raw != "":
		o.v.line([]byte(strings.ReplaceAll(step.Raw, "{{session}}", o.v.session())))
	case step.Fill > 0:
		say(strings.Repeat("x", step.Fill))
	case step.Heard:
		o.v.mu.Lock()
		heard := strings.Join(o.v.heard, "\n")
		o.v.mu.Unlock()
		say(heard)
	case step.Env:
		say(strings.Join(os.Environ(), "\n"))
	case step.Read != "":
		text, err := os.ReadFile(step.Read)
		say(outcome(string(text), err))
	case step.Write != "":
		say(outcome("written", os.WriteFile(step.Write, []byte("x"), 0o600)))
	case step.FS != nil:
		return o.file(ctx, *step.FS)
	case step.Sleep > 0:
		pid, err := grandchild(step.Sleep)
		say(outcome(pid, err))
	}
	return nil
}

func outcome(text string, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return text
}

func (o outside) file(ctx context.Context, f File) error {
	method := "fs/read_text_file"
	if f.Content != "" {
		method = "fs/write_text_file"
	}
	params, err := json.Marshal(struct {
		Session string `json:"sessionId"`
		File
	}{o.v.session(), f})
	if err != nil {
		return err
	}
	answer, err := o.v.request(ctx, method, params)
	if err != nil {
		return err
	}
	o.update(agent.Message{Text: string(answer)})
	return nil
}

// grandchild starts a process that leaves our group, holds our output and does not end with us.
func grandchild(seconds int) (string, error) {
	c := exec.Command("sleep", fmt.Sprint(seconds))
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return "", err
	}
	return fmt.Sprint(c.Process.Pid), nil
}
