package toolclient

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func options() Options {
	return Options{Log: slog.New(slog.DiscardHandler), Connect: 20 * time.Second, Most: 100}
}

// serve offers tools on loopback.
func serve(t *testing.T, fill func(*mcp.Server)) *httptest.Server {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "other", Version: "1"}, nil)
	fill(s)
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close)
	return web
}

// raw adds a tool that answers what it is told, past every check of the server's own.
func raw(s *mcp.Server, name, schema string, answer mcp.ToolHandler) {
	s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, answer)
}

func open(t *testing.T, servers ...Server) *Set {
	t.Helper()
	set, err := Open(t.Context(), servers, Place{}, options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	return set
}

func TestResults(t *testing.T) {
	text := func(s string) *mcp.TextContent { return &mcp.TextContent{Text: s} }
	for name, c := range map[string]struct {
		answer *mcp.CallToolResult
		want   string
		images int
		failed bool
	}{
		"words":      {&mcp.CallToolResult{Content: []mcp.Content{text("a"), text(""), text("b")}}, "a\nb", 0, false},
		"failed":     {&mcp.CallToolResult{IsError: true, Content: []mcp.Content{text("no")}}, "no", 0, true},
		"long":       {&mcp.CallToolResult{Content: []mcp.Content{text(strings.Repeat("é", 80)), text("b")}}, strings.Repeat("é", 50) + cut, 0, false},
		"structured": {&mcp.CallToolResult{StructuredContent: map[string]int{"a": 1}}, `{"a":1}`, 0, false},
		"a resource": {&mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x:y", Text: "in it"}},
			&mcp.ResourceLink{URI: "x:z", Name: "z"}}}, "in it\nx:z", 0, false},
		"pictures": {&mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{MIMEType: "image/png", Data: []byte("1")},
			&mcp.ImageContent{MIMEType: "image/png", Data: []byte("2")}, &mcp.ImageContent{Data: []byte("3")},
			&mcp.ImageContent{Data: []byte("4")}, &mcp.ImageContent{Data: []byte("5")}}}, "", mostImages, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(c.answer, 100); got.Text != c.want || len(got.Images) != c.images || got.Failed != c.failed {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Input is checked before it leaves, as far as its schema is understood.
func TestInput(t *testing.T) {
	var reached atomic.Int64
	answer := func(_ context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		reached.Add(1)
		return &mcp.CallToolResult{}, nil
	}
	web := serve(t, func(s *mcp.Server) {
		raw(s, "known", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, answer)
		raw(s, "odd", `{"type":"object","properties":{"n":{"$ref":"https://elsewhere.invalid/schema"}}}`, answer)
	})
	tools := map[string]Tool{}
	for _, tool := range open(t, Server{Name: "s", URL: web.URL}).Tools() {
		tools[tool.Name] = tool
	}
	for _, c := range []struct {
		tool, input string
		fits        bool
	}{{"known", `{"n":1}`, true}, {"known", `{"n":"1"}`, false}, {"known", ``, false}, {"known", `{`, false}, {"known", `null`, false},
		{"odd", `{"n":1}`, true}, {"odd", ``, true}, {"odd", `[]`, false}} {
		before := reached.Load()
		_, err := tools[c.tool].Call(t.Context(), json.RawMessage(c.input))
		if (err == nil) != c.fits || err != nil && !errors.Is(err, ErrInput) || (reached.Load() > before) != c.fits {
			t.Errorf("%s %s: %v", c.tool, c.input, err)
		}
	}
}

// The operator's headers go to the address that was written down, and nowhere else.
func TestNoRedirection(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached.Store(true) }))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "secret" {
			t.Error("the header is missing")
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	set := open(t, Server{Name: "s", URL: first.URL, Headers: map[string]string{"X-Key": "secret"}})
	if len(set.Tools()) != 0 || reached.Load() {
		t.Error("the redirection was followed")
	}
}

// An answer without end is cut off, whether it is one event or many.
func TestEndlessAnswers(t *testing.T) {
	body := &bounded{io.NopCloser(endless{}), 1000}
	got, err := io.ReadAll(body)
	if err == nil || len(got) != 1000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestTooManyTools(t *testing.T) {
	web := serve(t, func(s *mcp.Server) {
		for i := range mostTools + 1 {
			raw(s, "t"+strings.Repeat("x", i), `{"type":"object"}`, nil)
		}
	})
	if n := len(open(t, Server{Name: "s", URL: web.URL}).Tools()); n != 0 {
		t.Errorf("%d tools", n)
	}
}

// A server that says nothing, at any step, holds nobody up.
func TestSilentServers(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		t.Run(method, func(t *testing.T) {
			s := mcp.NewServer(&mcp.Implementation{Name: "other", Version: "1"}, nil)
			inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
			var silent atomic.Int64
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == method {
					silent.Add(1)
					_, _ = io.Copy(io.Discard, r.Body) // or the end of the client goes unnoticed
					<-r.Context().Done()
					return
				}
				inner.ServeHTTP(w, r)
			}))
			defer web.Close()
			o := options()
			if method == http.MethodPost {
				o.Connect = 50 * time.Millisecond
			}
			set, err := Open(t.Context(), []Server{{Name: "s", URL: web.URL}}, Place{}, o)
			if err != nil {
				t.Fatal(err)
			}
			if err := set.Close(); err != nil {
				t.Error(err)
			}
			for left := range s.Sessions() { // of the server, which was not told
				_ = left.Close()
			}
			if method == http.MethodPost && silent.Load() == 0 {
				t.Error("it was never silent")
			}
		})
	}
}

// Every request to a model holds what a server says of its tools.
func TestWordsAboutToolsAreBounded(t *testing.T) {
	answer := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	}
	long := serve(t, func(s *mcp.Server) {
		s.AddTool(&mcp.Tool{Name: "a", Description: strings.Repeat("x", 1<<20), InputSchema: json.RawMessage(`{"type":"object"}`)}, answer)
	})
	large := serve(t, func(s *mcp.Server) {
		raw(s, "b", `{"type":"object","description":"`+strings.Repeat("x", mostWords)+`"}`, answer)
	})
	tools := open(t, Server{Name: "long", URL: long.URL}, Server{Name: "large", URL: large.URL}).Tools()
	if len(tools) != 1 || tools[0].Name != "a" || len(tools[0].Doc) != mostDoc+len(cut) {
		t.Errorf("%d tools: %.100v", len(tools), tools)
	}
}
