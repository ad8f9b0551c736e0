package serve_test

import (
	"os"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// BUG-F10: what is on the disk when the first turn has just begun is what is left of an agent that is killed then. It
// knows the session by the id that the client was given.
func TestASessionIsKeptFromItsFirstMoment(t *testing.T) {
	r, cwd := start(t, t.TempDir(), nil), folder(t)
	id := r.open(t, cwd)
	done := r.background(t, id, "HOLD")
	left := t.TempDir()
	if err := os.CopyFS(left, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	after := start(t, left, nil)
	if _, err := after.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: cwd, McpServers: []sdk.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	if _, saw := after.say(t, id, "good day"); said(saw) != "hello" {
		t.Errorf("it said %q", said(saw))
	}
	r.leave()
	await(t, "the end of the turn", done)
}

// BUG-F09: a session's id that is a path is the id of nothing, wherever it leads.
func TestASessionsIDIsNoPath(t *testing.T) {
	r, cwd := start(t, t.TempDir(), nil), folder(t)
	real := r.open(t, cwd)
	for _, id := range []sdk.SessionId{real + "/../" + real, "../" + real, `..\` + real, "/etc/passwd"} {
		_, err := r.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: cwd, McpServers: []sdk.McpServer{}})
		if err == nil || !strings.Contains(err.Error(), "there is no session of that id") {
			t.Errorf("%q: %v", id, err)
		}
	}
}
