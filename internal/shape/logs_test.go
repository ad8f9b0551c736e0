package shape

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// hidden are names under which the log tells lengths alone, since people's words travel under them (internal/logging).
var hidden = []string{"content", "prompt", "text", "message", "query", "replycontent", "caption", "body"}

// TestLogKeys holds that nothing which the log is to tell is named so that it tells only how long it is.
func TestLogKeys(t *testing.T) {
	seen := 0
	for _, f := range product(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !logs(call) {
				return true
			}
			for _, arg := range call.Args[1:] {
				word, ok := arg.(*ast.BasicLit)
				if !ok || word.Kind != token.STRING {
					continue
				}
				seen++
				if key, err := strconv.Unquote(word.Value); err != nil || slices.Contains(hidden, key) {
					t.Errorf("%s: the log hides what is named %s", f.at(call), word.Value)
				}
			}
			return true
		})
	}
	if seen < 50 {
		t.Errorf("only %d names were found", seen)
	}
}

// logs reports whether a call writes a line to a log that is called so.
func logs(call *ast.CallExpr) bool {
	verb, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, verb.Sel.Name) || len(call.Args) < 2 {
		return false
	}
	switch on := verb.X.(type) {
	case *ast.SelectorExpr:
		return on.Sel.Name == "log" || on.Sel.Name == "Log"
	case *ast.Ident:
		return on.Name == "log"
	}
	return false
}
