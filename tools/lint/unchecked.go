package main

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/kisielk/errcheck/errcheck"
	"golang.org/x/tools/go/analysis"
)

// unchecked is errcheck without what nobody could act upon: a clean-up that is deferred, the closing of something
// (who closes what was written to looks at the error anyway), a line printed for a person. Tests are left out: there the next line notices.
var unchecked = &analysis.Analyzer{
	Name:       "errcheck",
	Doc:        "report errors that are neither handled nor said to be dropped (_ =)",
	Run:        runUnchecked,
	ResultType: errcheck.Analyzer.ResultType,
}

// lastActs are calls whose error changes nothing when they are deferred.
var lastActs = map[string]bool{
	"CloseNow": true, "Rollback": true, "Remove": true, "RemoveAll": true, "Kill": true,
	"Stop": true, "Wait": true, "Unlock": true,
}

func runUnchecked(pass *analysis.Pass) (any, error) {
	spared := map[token.Pos]bool{}
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.DeferStmt:
				if lastActs[called(n.Call)] {
					spare(spared, n.Call)
				}
			case *ast.CallExpr:
				if name := called(n); name == "Close" || strings.HasPrefix(name, "Fprint") {
					spare(spared, n)
				}
			}
			return true
		})
	}
	inner := *pass
	inner.Report = func(d analysis.Diagnostic) {
		if spared[d.Pos] || strings.HasSuffix(pass.Fset.Position(d.Pos).Filename, "_test.go") {
			return
		}
		pass.Report(d)
	}
	return errcheck.Analyzer.Run(&inner)
}

// spare marks every position at which errcheck may report the call.
func spare(spared map[token.Pos]bool, call *ast.CallExpr) {
	spared[call.Pos()], spared[call.Lparen] = true, true
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		spared[sel.Sel.Pos()] = true
	}
}

// called returns the last name of what is called.
func called(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.SelectorExpr:
		return fun.Sel.Name
	case *ast.Ident:
		return fun.Name
	}
	return ""
}
