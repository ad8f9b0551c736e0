package shape

import (
	"go/ast"
	"testing"
)

// starters are the files that may start a goroutine (a go statement, or the Go method of a group), each with
// who waits for what it starts.
var starters = map[string]string{
	"internal/approval/deeds.go":        "Close waits for every deed",
	"internal/agent/acp/acp.go":         "Open waits for its watch of the end, Close for every session that it ends",
	"internal/agent/acp/spare.go":       "Close waits for the tenders of those that wait, a tender for what heeds its start",
	"internal/agent/acp/open.go":        "the session's Close waits for the watch of its process",
	"internal/agent/acp/conn.go":        "conn.close waits for the reader, the writer and the hander",
	"internal/agent/serve/serve.go":     "Serve waits for the requests and the writer; the reader ends with its input",
	"internal/backup/keep.go":           "keep waits for whoever fills what git reads",
	"internal/clock/run.go":             "Run waits for the jobs that it lets run",
	"internal/cli/up.go":                "up waits for the line that announces the page",
	"internal/cli/chatscreen.go":        "run waits for everything that the chat starts",
	"internal/cli/ready.go":             "Close waits for what ships the log",
	"internal/cli/signals.go":           "what heed returns waits for the listener of signals",
	"internal/host/run.go":              "Run waits for the sources, then for the listeners",
	"internal/host/typing.go":           "the end of the turn waits for its typing",
	"internal/platform/discord/link.go": "connect waits for everything that it starts",
	"internal/platform/webhook/mail.go": "Deliver waits for what is under way",
	"internal/process/output.go":        "Output waits for whoever feeds the program",
	"internal/process/process.go":       "Stop waits for the watch of the tree",
	"internal/process/stop.go":          "the watch waits for the reader of stderr",
	"internal/process/warden.go":        "the warden is a process of its own: both end with it",
	"internal/room/rooms.go":            "Close waits for every room",
	"internal/agent/loop/calls.go":      "the turn waits for its tool calls, the session's Close for those that heeded no end",
	"internal/toolclient/toolclient.go": "Open and Close wait for every server",
	"internal/toolserver/server.go":     "Run waits for the listener that it serves",

	"internal/platform/misskey/api/client.go": "an upload waits for whoever fills it",
	"internal/platform/misskey/api/stream.go": "Close waits for the reader and the heartbeat",
}

// roots are the files that may make a context out of nothing, each with why.
var roots = map[string]string{
	"internal/metrics/readings.go": "what is read at a fetch is handed no context; it has a time limit of its own",
	"internal/host/run.go":         "a context that is over ends at once the rooms that Run left",
	"internal/cli/root.go":         "the commands begin here"}

func TestGoroutines(t *testing.T) {
	started, rooted := map[string]bool{}, map[string]bool{}
	for _, f := range product(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if starts(n) {
				started[f.path] = true
				if starters[f.path] == "" {
					t.Errorf("%s starts a goroutine; starters does not say who waits for it", f.at(n))
				}
			}
			if call, ok := n.(*ast.CallExpr); ok && f.pkg != "cmd/familiar" && (isCall(call, "context", "Background") || isCall(call, "context", "TODO")) {
				rooted[f.path] = true
				if roots[f.path] == "" {
					t.Errorf("%s makes a context out of nothing; roots does not say why", f.at(n))
				}
			}
			return true
		})
	}
	for path := range starters {
		if !started[path] {
			t.Errorf("%s starts no goroutine any more: take it out of starters", path)
		}
	}
	for path := range roots {
		if !rooted[path] {
			t.Errorf("%s makes no context any more: take it out of roots", path)
		}
	}
}

// starts reports whether a goroutine begins at n.
func starts(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Go" && len(n.Args) == 1
	}
	return false
}

// isCall reports whether a call is pkg.name.
func isCall(call *ast.CallExpr, pkg, name string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	from, ok := sel.X.(*ast.Ident)
	return ok && from.Name == pkg
}
