package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/llm/llmtest"
)

// compiler finds the TypeScript compiler beside the types that the vendors publish.
func compiler(t *testing.T) (tsc, modules string) {
	t.Helper()
	modules, err := filepath.Abs("../../node_modules")
	if err != nil {
		t.Fatal(err)
	}
	tsc = filepath.Join(modules, ".bin", "tsc")
	for _, needed := range []string{tsc, filepath.Join(modules, "openai"), filepath.Join(modules, "@anthropic-ai", "sdk")} {
		if _, err := os.Stat(needed); err != nil && os.Getenv("CI") != "" {
			t.Fatal("the vendors' types are not here: run make deps")
		} else if err != nil {
			t.Skip("the vendors' types are not here: run make deps")
		}
	}
	return tsc, modules
}

// everything is a question that uses all that a question can hold.
func everything(t *testing.T) []Question {
	t.Helper()
	history := []Message{
		{User, []Part{Text("look"), Image{MIME: "image/png", Data: picture(t)}}},
		{Assistant, []Part{Thinking{Text: "hm", Signature: anthropicProof + "c2ln"}, Thinking{Signature: redactedProof + "ZGF0YQ=="},
			Thinking{Text: "unsigned"}, Thinking{Text: "of a server", Signature: reasoningProof}, Text("I look."),
			Call{ID: "a", Name: "look", Input: json.RawMessage(`{"at":"shelf"}`)}, Call{ID: "b", Name: "look", Input: json.RawMessage(`{broken`)}}},
		{User, []Part{Result{Call: "a", Text: "tea"}, Result{Call: "b", Failed: true}, Text("and now?")}},
	}
	tools := []Tool{{Name: "look", Doc: "Looks.", Params: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`)}, {Name: "wait"}}
	return []Question{
		say("hello"),
		{System: "You are kind.", Messages: history, Tools: tools, MaxTokens: 100},
		{System: "You are kind.", Messages: history, Schema: json.RawMessage(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)},
	}
}

// compile runs the compiler over a text and returns what it says.
func compile(t *testing.T, tsc, modules, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "requests.ts"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), tsc, "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022",
		"--module", "nodenext", "--moduleResolution", "nodenext", "requests.ts")
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// Every request is one that the vendor's own types allow, with no field that they do not know.
func TestRequestsAgainstTheVendorsTypes(t *testing.T) {
	tsc, modules := compiler(t)
	const head = `import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
`
	types := map[string]string{"anthropic": "MessageCreateParamsStreaming", "openai": "ChatCompletionCreateParamsStreaming"}
	text, requests := bytes.NewBufferString(head), 0
	each(t, func(t *testing.T, provider string) {
		r := newRig(t, provider, answers(llmtest.Reply{Text: "{}"}))
		for _, q := range everything(t) {
			r.ask(t, q)
		}
		for _, q := range r.server.Requests() {
			fmt.Fprintf(text, "export const r%d: %s = %s;\n", requests, types[provider], q.Body)
			requests++
		}
	})
	if out := compile(t, tsc, modules, text.String()); out != "" || requests != 6 {
		t.Errorf("%d requests:\n%s", requests, out)
	}
	// That the compiler would see what is wrong: an unknown field, and a missing one.
	for provider, wrong := range map[string]string{"anthropic": `{"model":"m","stream":true,"messages":[]}`, "openai": `{"model":"m","stream":true,"messages":[{"role":"user","content":"x","new":1}]}`} {
		if out := compile(t, tsc, modules, head+"export const r: "+types[provider]+" = "+wrong+";\n"); !strings.Contains(out, "error TS") {
			t.Errorf("%s: the compiler says %q", wrong, out)
		}
	}
}
