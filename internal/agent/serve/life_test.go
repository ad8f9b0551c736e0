package serve_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent/serve"
	"familiar/internal/llm"
)

// background prompts, and returns when the first words have come.
func (r *rig) background(t *testing.T, id sdk.SessionId, text string) <-chan sdk.PromptResponse {
	t.Helper()
	done := make(chan sdk.PromptResponse, 1)
	go func() {
		// Not the test's context: the SDK cancels the turn itself when that ends.
		answer, err := r.Prompt(context.Background(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
		if err != nil {
			answer.StopReason = sdk.StopReason("error: " + err.Error())
		}
		done <- answer
	}()
	await(t, "the first words", r.client.began)
	return done
}

func TestCancel(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	id := r.open(t, folder(t))
	done := r.background(t, id, "HOLD")
	if _, err := r.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("and?")}}); err == nil {
		t.Error("a second turn was begun")
	}
	if err := r.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if answer := await(t, "the end of a cancelled turn", done); answer.StopReason != sdk.StopReasonCancelled {
		t.Errorf("it ended with %q", answer.StopReason)
	}
	if _, saw := r.say(t, id, "good day"); said(saw) != "hello" {
		t.Errorf("the turn after a cancelled one said %q", said(saw))
	}
}

// A turn that is cancelled while it asks ends, and the answer that comes later does not count.
func TestCancelWhileItAsks(t *testing.T) {
	r, cwd := start(t, t.TempDir(), nil), folder(t)
	asked, late := make(chan struct{}), make(chan struct{})
	r.client.answer = func() sdk.PermissionOptionKind {
		close(asked)
		<-late
		return sdk.PermissionOptionKindAllowOnce
	}
	id, done := r.open(t, cwd), make(chan sdk.StopReason, 1)
	go func() {
		answer, _ := r.Prompt(context.Background(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("WRITE")}})
		done <- answer.StopReason
	}()
	await(t, "the question", asked)
	if err := r.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if stop := await(t, "the end", done); stop != sdk.StopReasonCancelled {
		t.Errorf("it ended with %q", stop)
	}
	close(late)
	r.leave()
	if text, _ := os.ReadFile(filepath.Join(cwd, "a.txt")); string(text) == "new" {
		t.Error("the answer that came after the cancel was taken")
	}
}

func TestASessionGoesOn(t *testing.T) {
	dir, cwd := t.TempDir(), folder(t)
	r := start(t, dir, nil)
	id := r.open(t, cwd)
	r.say(t, id, "good day")
	r.say(t, id, "READ")
	if _, err := r.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: id, ModeId: "plan"}); err != nil {
		t.Fatal(err)
	}
	r.leave()

	r = start(t, dir, nil)
	listed, err := r.ListSessions(t.Context(), sdk.ListSessionsRequest{Cwd: &cwd})
	if err != nil || len(listed.Sessions) != 1 || listed.Sessions[0].SessionId != id || *listed.Sessions[0].Title != "good day" {
		t.Fatalf("listed %+v, %v", listed, err)
	}
	loaded, err := r.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: cwd, McpServers: []sdk.McpServer{}})
	if err != nil || loaded.Modes.CurrentModeId != "plan" {
		t.Fatalf("loaded %+v, %v", loaded, err)
	}
	saw := r.client.updates()
	var asked []string
	for _, u := range saw {
		if u.UserMessageChunk != nil {
			asked = append(asked, u.UserMessageChunk.Content.Text.Text)
		}
	}
	if strings.Join(asked, ",") != "good day,READ" || !strings.HasPrefix(said(saw), "helloit said:") ||
		tools(saw)["Read a.txt"] != sdk.ToolCallStatusCompleted {
		t.Errorf("replayed %q, %q, %v", asked, said(saw), tools(saw))
	}
	if _, saw = r.say(t, id, "PLAN"); said(saw) == "" { // the whole history is put to the model again
		t.Error("the session does not go on")
	}
	resumed, err := r.ResumeSession(t.Context(), sdk.ResumeSessionRequest{SessionId: id, Cwd: cwd})
	if err != nil || resumed.Modes.CurrentModeId != "plan" || len(r.client.updates()) != 0 {
		t.Errorf("resumed %+v, %v", resumed, err)
	}
}

func TestClose(t *testing.T) {
	r, cwd := start(t, t.TempDir(), nil), folder(t)
	id := r.open(t, cwd)
	done := r.background(t, id, "HOLD")
	if _, err := r.CloseSession(t.Context(), sdk.CloseSessionRequest{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if answer := await(t, "the end of the turn", done); answer.StopReason != sdk.StopReasonCancelled {
		t.Errorf("it ended with %q", answer.StopReason)
	}
	if _, err := r.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("x")}}); err == nil {
		t.Error("a closed session was prompted")
	}
	if _, err := r.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: cwd, McpServers: []sdk.McpServer{}}); err != nil {
		t.Errorf("a closed session cannot be loaded: %v", err)
	}
}

func TestTwoProcessesDoNotShareASession(t *testing.T) {
	dir, cwd := t.TempDir(), folder(t)
	one, two := start(t, dir, nil), start(t, dir, nil)
	id := one.open(t, cwd)
	_, err := two.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: cwd, McpServers: []sdk.McpServer{}})
	if err == nil || !strings.Contains(err.Error(), "open elsewhere") {
		t.Errorf("a session that is open was loaded: %v", err)
	}
}

// Nothing is left of an MCP server when the input ends, even in the middle of a turn.
func TestTheInputEnds(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	id := r.open(t, folder(t), jotter(t, filepath.Join(t.TempDir(), "notes")))
	done := r.background(t, id, "HOLD")
	if children(t) == 0 {
		t.Fatal("no MCP server runs")
	}
	r.leave()
	await(t, "the end of the turn", done)
	if n := children(t); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

// A client that closes our input and does not read what it was sent cannot keep us.
func TestAClientThatDoesNotRead(t *testing.T) {
	_, unread := io.Pipe()
	defer unread.Close()
	input := strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}`+"\n", 300)
	ended := make(chan error, 1)
	go func() {
		ended <- serve.Serve(context.Background(), strings.NewReader(input), unread, serve.Options{Log: quiet(),
			Models: serve.NewProviders(llm.Defaults(), llm.Deps{}), Dir: t.TempDir()})
	}()
	if err := await(t, "the end", ended); err != nil {
		t.Error(err)
	}
}

// children counts the processes that have this one as their parent.
func children(t *testing.T) int {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err == nil { // a thread may have ended
			n += len(strings.Fields(string(text)))
		}
	}
	return n
}

func TestWithoutAKey(t *testing.T) {
	for name, c := range map[string]struct {
		section llm.Config
		says    string
	}{
		"no provider":        {llm.Defaults(), "ANTHROPIC_API_KEY"},
		"provider, no key":   {llm.Config{Provider: "openai", Model: "m"}, "OPENAI_API_KEY"},
		"provider, no model": {llm.Config{Provider: "anthropic"}, "ANTHROPIC_API_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := start(t, dir, func(o *serve.Options) { o.Models = serve.NewProviders(c.section, llm.Deps{}) })
			_, err := r.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: folder(t), McpServers: []sdk.McpServer{}})
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "-32000") {
				t.Errorf("the error is %v", err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Error("a session that was not opened is kept")
			}
		})
	}
}

func TestAFailedTurnSaysWhyAndTheSessionGoesOn(t *testing.T) {
	r := start(t, t.TempDir(), nil)
	id := r.open(t, folder(t))
	_, err := r.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("FAIL")}})
	if err == nil || strings.Contains(err.Error(), "the agent's log says more") {
		t.Errorf("the error is %v", err)
	}
	if _, saw := r.say(t, id, "good day"); said(saw) != "hello" {
		t.Errorf("it said %q", said(saw))
	}
}

func TestListing(t *testing.T) {
	dir, here, there := t.TempDir(), folder(t), folder(t)
	r := start(t, dir, nil)
	var all []sdk.SessionId
	for i := range 55 {
		id := r.open(t, map[bool]string{true: here, false: there}[i%5 != 0])
		all = append(all, id)
		if _, err := r.CloseSession(t.Context(), sdk.CloseSessionRequest{SessionId: id}); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(time.Duration(i-100) * time.Minute)
		if err := os.Chtimes(filepath.Join(dir, string(id)+".jsonl"), when, when); err != nil {
			t.Fatal(err)
		}
	}
	first, err := r.ListSessions(t.Context(), sdk.ListSessionsRequest{})
	if err != nil || len(first.Sessions) != 50 || first.NextCursor == nil || first.Sessions[0].SessionId != all[54] {
		t.Fatalf("%d sessions, %v", len(first.Sessions), err)
	}
	rest, err := r.ListSessions(t.Context(), sdk.ListSessionsRequest{Cursor: first.NextCursor})
	if err != nil || len(rest.Sessions) != 5 || rest.NextCursor != nil || rest.Sessions[4].SessionId != all[0] {
		t.Errorf("%+v, %v", rest, err)
	}
	if some, err := r.ListSessions(t.Context(), sdk.ListSessionsRequest{Cwd: &there}); err != nil || len(some.Sessions) != 11 {
		t.Errorf("%d sessions of a folder, %v", len(some.Sessions), err)
	}
	wrong := "???"
	if _, err := r.ListSessions(t.Context(), sdk.ListSessionsRequest{Cursor: &wrong}); err == nil {
		t.Error("any cursor is taken")
	}
}
