package shape

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// What the check stops. What we aim at is in CONTRIBUTING.md.
const (
	maxFile      = 400  // lines of a file, tests too
	maxPackage   = 2500 // lines of a package, tests not counted
	maxFunc      = 80   // lines of a function
	maxNesting   = 4    // blocks within blocks of a function
	maxParams    = 5
	maxInterface = 5 // methods of an interface of ours
)

// largePackages may be larger, each with why it is not two.
var largePackages = map[string]string{
	"agent/acp": "the connection, the session and the process of an agent share one life; see decision 005",
	"config":    "the check, the environment, the example, the schema and the reference share one description; see decision 013",
	"cli":       "one file a command, and none knows another; see decision 014",
	"host":      "every part of the bot is put together here, a file for each; see decision 001",
	"memory":    "files, what they resolve to and what finds them share one rule of who may see what; see decision 034",
	"llm":       "two dialects of the wire share one reader, one watch and one set of problems; see decision 021",
}

// longFiles may be longer: they are tables.
var longFiles = map[string]bool{}

func TestSizes(t *testing.T) {
	packages := map[string]int{}
	for _, f := range all(t) {
		if f.lines > maxFile && !f.gen && !longFiles[f.path] {
			t.Errorf("%s has %d lines, more than %d: split it by what each part may forget", f.path, f.lines, maxFile)
		}
		if f.test || f.gen {
			continue
		}
		packages[f.pkg] += f.lines
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				checkFunc(t, f, n)
			case *ast.InterfaceType:
				if n.Methods.NumFields() > maxInterface {
					t.Errorf("%s: an interface of %d methods, more than %d", f.at(n), n.Methods.NumFields(), maxInterface)
				}
			}
			return true
		})
	}
	for pkg, lines := range packages {
		if lines > maxPackage && largePackages[pkg] == "" {
			t.Errorf("package %s has %d lines, more than %d", pkg, lines, maxPackage)
		}
	}
}

func checkFunc(t *testing.T, f file, fn *ast.FuncDecl) {
	t.Helper()
	if fn.Body == nil {
		return
	}
	lines := f.set.Position(fn.End()).Line - f.set.Position(fn.Pos()).Line + 1
	if lines > maxFunc {
		t.Errorf("%s: %s has %d lines, more than %d", f.at(fn), fn.Name.Name, lines, maxFunc)
	}
	if deep := nesting(fn.Body); deep > maxNesting {
		t.Errorf("%s: %s is nested %d deep, more than %d", f.at(fn), fn.Name.Name, deep, maxNesting)
	}
	if n := fn.Type.Params.NumFields(); n > maxParams {
		t.Errorf("%s: %s takes %d parameters, more than %d: give them a struct with a name", f.at(fn), fn.Name.Name, n, maxParams)
	}
}

// nesting counts how deep conditions, loops and switches stand within each other. An else-if is as deep as its
// if, and a function literal begins anew.
func nesting(body *ast.BlockStmt) int {
	deepest := 0
	var walk func(n ast.Node, depth int)
	walk = func(n ast.Node, depth int) {
		deepest = max(deepest, depth)
		ast.Inspect(n, func(inner ast.Node) bool {
			switch inner := inner.(type) {
			case *ast.FuncLit:
				walk(inner.Body, 0)
				return false
			case *ast.IfStmt:
				walk(inner.Body, depth+1)
				switch other := inner.Else.(type) {
				case *ast.IfStmt:
					walk(other, depth)
				case *ast.BlockStmt:
					walk(other, depth+1)
				}
				return false
			case *ast.ForStmt:
				walk(inner.Body, depth+1)
				return false
			case *ast.RangeStmt:
				walk(inner.Body, depth+1)
				return false
			case *ast.CaseClause, *ast.CommClause:
				if inner == n {
					return true
				}
				walk(inner, depth+1)
				return false
			}
			return true
		})
	}
	walk(body, 0)
	return deepest
}

// TestNesting checks the counter itself.
func TestNesting(t *testing.T) {
	for want, body := range map[int]string{
		0: `x := 1; _ = x`,
		1: `if a { b() } else if c { d() } else { e() }`,
		2: `for { switch a { case 1: b() } }`,
		3: `for range a { select { case <-c: if d { e() } } }`,
		4: `if a { for { if b { if c { d() } } } }; func() { if e { f() } }()`,
	} {
		tree, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {"+body+"}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := nesting(tree.Decls[0].(*ast.FuncDecl).Body); got != want {
			t.Errorf("%s: nested %d deep, want %d", body, got, want)
		}
	}
}
