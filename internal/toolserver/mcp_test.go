package toolserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// withToken is a client's transport that brings the bearer.
type withToken struct{ token string }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return http.DefaultTransport.RoundTrip(r)
}

func (s seat) connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.MCPURL,
		HTTPClient: &http.Client{Transport: withToken{s.Token}}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func said(t *testing.T, res *mcp.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return res.Content[0].(*mcp.TextContent).Text
}

func TestMCPListsTheTools(t *testing.T) {
	r := newRig(t)
	session := r.admit().connect(t)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Name != "send-reply" {
			continue
		}
		schema, _ := json.Marshal(tool.InputSchema)
		if tool.Description != "Say something." || !strings.Contains(string(schema), `"description":"what to say"`) {
			t.Errorf("%s %s", tool.Description, schema)
		}
		if tool.Annotations.ReadOnlyHint || !*tool.Annotations.OpenWorldHint {
			t.Errorf("%+v", tool.Annotations)
		}
	}
	if len(names) != 5 {
		t.Fatalf("%q", names)
	}
}

func TestMCPCalls(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	session := s.connect(t)
	call := func(name string, args any) (*mcp.CallToolResult, error) {
		return session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	}
	res, err := call("send-reply", map[string]string{"message": "hi"})
	if text := said(t, res, err); res.IsError || text != `{"count":1}` {
		t.Fatal(text)
	}
	// AF-123: the repeat comes through the other face.
	want(t, s.call("send-reply", `{"message":"hi"}`), 200)
	if len(r.sent) != 1 {
		t.Fatalf("sent %q", r.sent)
	}
	for _, c := range []struct {
		name string
		args any
		says string
	}{
		{"send-reply", map[string]string{"message": "again"}, "sent already"}, // AF-121
		{"send-reply", map[string]string{}, "message"},
		{"send-reply", map[string]string{"message": " "}, "blank"}, // AF-125
		{"breaks", nil, "operator"},
	} {
		res, err := call(c.name, c.args)
		if text := said(t, res, err); !res.IsError || !strings.Contains(text, c.says) {
			t.Errorf("%s: %q", c.name, text)
		}
	}
	until(t, func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.loops == 1 }) // the fourth attempt
	if _, err := call("none", nil); err == nil {
		t.Error("an unknown tool was called")
	}
	if r.mu.Lock(); !slices.Equal(r.refused, []string{"none"}) {
		t.Errorf("seen as refused: %v", r.refused)
	}
	r.mu.Unlock()
	s.End()
	res, err = call("memory-save", nil)
	if text := said(t, res, err); !res.IsError || !strings.Contains(text, "no turn") || r.saves != 0 {
		t.Errorf("%q", text)
	}
}

func TestMCPNeedsItsToken(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, auth := range []string{"", "Bearer", "Bearer " + strings.Repeat("0", 64), "Bearer " + s.Token[:63]} {
		want(t, r.post("POST", mcpPath, body, auth), 401)
	}
	s.Close()
	want(t, r.post("POST", mcpPath, body, "Bearer "+s.Token), 401)
}
