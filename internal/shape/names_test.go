package shape

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Words that say nothing about what a thing is.
var (
	emptyPackages = strings.Fields("util utils common helper helpers core types pkg base manager service misc shared lib")
	emptyTypes    = regexp.MustCompile(`(Manager|Service|Processor|Helper|Helpers|Util|Utils|Impl|Base)$`)
	getter        = regexp.MustCompile(`^Get[A-Z]`)
)

// reflective packages read any Config, so their signatures may say any.
var reflective = map[string]bool{"config": true, "setting": true}

// early are the files whose init registers nothing and has a reason to come before main.
var early = map[string]string{"internal/process/warden.go": "a warden or gate begins before the libraries are set up"}

func TestNames(t *testing.T) {
	for _, f := range product(t) {
		if slices.Contains(emptyPackages, path.Base(f.pkg)) {
			t.Errorf("package %s: the name does not say what it is", f.pkg)
		}
		for _, decl := range f.ast.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				checkName(t, f, decl)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if named, ok := spec.(*ast.TypeSpec); ok {
						checkType(t, f, named)
					}
				}
			}
		}
	}
}

func checkName(t *testing.T, f file, fn *ast.FuncDecl) {
	t.Helper()
	switch name := fn.Name.Name; {
	case name == "init" && fn.Recv == nil && early[f.path] == "":
		t.Errorf("%s: an init: let a constructor do it", f.at(fn))
	case getter.MatchString(name):
		t.Errorf("%s: %s: what does it return? Name it so", f.at(fn), name)
	}
	if fn.Name.IsExported() && !reflective[f.pkg] {
		checkSignature(t, f, fn.Name.Name, fn.Type)
	}
}

func checkType(t *testing.T, f file, named *ast.TypeSpec) {
	t.Helper()
	if emptyTypes.MatchString(named.Name.Name) {
		t.Errorf("%s: type %s: the last word says nothing", f.at(named), named.Name.Name)
	}
	face, ok := named.Type.(*ast.InterfaceType)
	if !ok || reflective[f.pkg] || !named.Name.IsExported() {
		return
	}
	for _, method := range face.Methods.List {
		if fn, ok := method.Type.(*ast.FuncType); ok {
			checkSignature(t, f, named.Name.Name, fn)
		}
	}
}

// checkSignature refuses any in what others call. The arguments of a format are allowed.
func checkSignature(t *testing.T, f file, name string, fn *ast.FuncType) {
	t.Helper()
	fields := fn.Params.List
	if fn.Results != nil {
		fields = slices.Concat(fields, fn.Results.List)
	}
	for _, field := range fields {
		if _, variadic := field.Type.(*ast.Ellipsis); variadic {
			continue
		}
		ast.Inspect(field.Type, func(n ast.Node) bool {
			face, isFace := n.(*ast.InterfaceType)
			word, isWord := n.(*ast.Ident)
			if isWord && word.Name == "any" || isFace && face.Methods.NumFields() == 0 {
				t.Errorf("%s: %s says any: say what it takes or returns", f.at(field), name)
			}
			return true
		})
	}
}

// TestCharters wants the first sentence of every package to say what it is for.
func TestCharters(t *testing.T) {
	charters := map[string]string{}
	for _, f := range product(t) {
		charters[f.pkg] += f.ast.Doc.Text()
	}
	for pkg, text := range charters {
		want := "Package " + path.Base(pkg) + " "
		if pkg == "cmd/familiar" {
			want = "Command familiar "
		}
		if !strings.HasPrefix(text, want) {
			t.Errorf("package %s: its comment does not begin with %q", pkg, want)
		}
	}
}
