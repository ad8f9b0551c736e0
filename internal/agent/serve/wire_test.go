package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"familiar/internal/agent/serve"
	"familiar/internal/jsonrpc"
	"familiar/internal/llm"
)

// exchange serves what is written at once, and returns the lines that are answered.
func exchange(t *testing.T, dir, input string) []string {
	t.Helper()
	var out bytes.Buffer
	o := serve.Options{Log: quiet(), Models: serve.NewProviders(llm.Config{Provider: "compatible",
		BaseURL: "http://127.0.0.1:1/v1", Model: "m"}, llm.Deps{}), Dir: dir}
	if err := serve.Serve(context.Background(), strings.NewReader(input), &out, o); err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' })
}

func TestTheWire(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ line, want string }{
		"initialize":            {`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":7}}`, `"protocolVersion":1`},
		"a method of others":    {`{"jsonrpc":"2.0","id":1.50,"method":"session/fork","params":{}}`, `"id":1.50,"error":{"code":-32601`},
		"no message":            {`hello`, `"id":null,"error":{"code":-32700`},
		"parameters of a kind":  {`{"jsonrpc":"2.0","id":1,"method":"session/new","params":[]}`, `"code":-32602`},
		"a folder that is none": {`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"x","mcpServers":[]}}`, `"code":-32602`},
		"an unknown session":    {`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"x","prompt":[{"type":"text","text":"x"}]}}`, `there is no open session`},
		"a path for an id":      {`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"../../etc/passwd","cwd":"/","mcpServers":[]}}`, `there is no session`},
		"a way to log in":       {`{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"x"}}`, `"code":-32602`},
		"an sse server": {`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[` +
			`{"type":"sse","name":"x","url":"http://x.test","headers":[]}]}}`, `mcpServers[0]`},
	} {
		got := exchange(t, dir, c.line+"\n")
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: answered %q, want %q", name, got, c.want)
		}
	}
	for _, silent := range []string{`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}`,
		`{"jsonrpc":"2.0","method":"_x/y"}`, `{"jsonrpc":"2.0","id":9,"result":{}}`, ""} {
		if got := exchange(t, dir, silent+"\n"); len(got) != 0 {
			t.Errorf("%s was answered: %q", silent, got)
		}
	}
}

// FuzzServe feeds the agent whatever: each line that it answers is a message, and it ends.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n",
		`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"x","prompt":[{"type":"resource","resource":{}}]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"ses_00000000000000000000000000000000","cwd":"/"}}`,
		`{"jsonrpc":"2.0","id":"2","method":"session/list","params":{"cursor":"MSAx"}}` + "\n{}\n",
		`{"jsonrpc":"2.0","id":1,"method":"session/set_config_option","params":{"value":true}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if strings.Contains(input, "session/new") {
			t.Skip("sessions begin at a model")
		}
		for _, line := range exchange(t, t.TempDir(), input) {
			var m jsonrpc.Message
			if err := json.Unmarshal([]byte(line), &m); err != nil || !m.Valid() {
				t.Fatalf("no message: %q", line)
			}
		}
	})
}
