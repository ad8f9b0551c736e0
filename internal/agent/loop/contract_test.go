package loop

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/llm"
	"familiar/internal/toolclient"
)

var when = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// obedient does what agenttest asks of an agent.
func obedient(ctx context.Context, q llm.Question, saw func(llm.Piece)) (llm.Answer, error) {
	last := q.Messages[len(q.Messages)-1]
	var asked string
	picture := false
	for _, p := range last.Parts {
		switch p := p.(type) {
		case llm.Text:
			asked += string(p)
		case llm.Image:
			picture = true
		case llm.Result:
			return says(llm.Ended, saw, llm.Text("that was "+p.Text))
		}
	}
	switch {
	case strings.Contains(asked, agenttest.Think):
		return says(llm.Ended, saw, llm.Thinking{Text: "hidden"}, llm.Text("shown"))
	case strings.Contains(asked, agenttest.Tool):
		return says(llm.WantsTool, saw, call("note", `{"text":"tea"}`))
	case strings.Contains(asked, agenttest.Ask):
		return says(llm.WantsTool, saw, call("elsewhere_fetch", `{"path":"/x"}`))
	case strings.Contains(asked, agenttest.Wait):
		saw(llm.Piece{Text: "waiting"})
		<-ctx.Done()
		return llm.Answer{}, context.Cause(ctx)
	case picture:
		return says(llm.Ended, saw, llm.Text("a picture"))
	}
	return says(llm.Ended, saw, llm.Text("he"), llm.Text("llo"))
}

// elsewhere is an MCP server of somebody else. A call that hangs does so until it is cancelled or the server is gone:
// a client that leaves at once need not have said that it cancels.
func elsewhere(gone <-chan struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "elsewhere", Version: "1"}, nil)
	type args struct {
		Path string `json:"path"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "fetch", Description: "Fetches."},
		func(ctx context.Context, _ *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
			switch a.Path {
			case "/hang":
				select {
				case <-ctx.Done():
				case <-gone:
				}
			case "/exit":
				os.Exit(3)
			case "/long":
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("é", 1<<20)}}}, nil, nil
			case "/image":
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{MIMEType: "image/gif", Data: png1x1()},
					&mcp.ImageContent{MIMEType: "image/png", Data: []byte("no picture")}}}, nil, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "page " + a.Path + " " + os.Getenv("ELSEWHERE")}}}, nil, nil
		})
	return s
}

// serveOnStreams turns this process into the server when it was started as one.
func serveOnStreams() {
	if os.Getenv("ELSEWHERE") == "" {
		return
	}
	_ = elsewhere(nil).Run(context.Background(), &mcp.StdioTransport{})
	os.Exit(0)
}

// onWeb serves it on loopback.
func onWeb(t *testing.T) toolclient.Server {
	t.Helper()
	gone := make(chan struct{})
	shared := elsewhere(gone)
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if r.Header.Get("Authorization") != "Bearer of-test" {
			return nil
		}
		return shared
	}, nil))
	t.Cleanup(func() {
		close(gone)
		web.Close()
	})
	return toolclient.Server{Name: "elsewhere", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer of-test"}}
}

func TestContract(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agent.Agent {
		a := New(Defaults(), &mind{answer: obedient}, Deps{Log: quiet(), Servers: []toolclient.Server{onWeb(t)}})
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if n := a.Living(); n != 0 {
				t.Errorf("%d sessions are left", n)
			}
		})
		return a
	})
}
