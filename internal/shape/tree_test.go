package shape

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// root is the top of the repository, seen from this package.
const root = "../.."

// file is one Go file of ours.
type file struct {
	path  string // from the top of the repository
	pkg   string // its package, from internal/: "desk/companion"; "cmd/familiar" for the program
	test  bool   // compiled into tests only
	gen   bool
	lines int
	set   *token.FileSet
	ast   *ast.File
}

// at names a place in the file for a message.
func (f file) at(n ast.Node) string {
	return f.path + ":" + strconv.Itoa(f.set.Position(n.Pos()).Line)
}

// support names the packages that only tests and benches use: contracts of the seams, scripted counterparts, and the
// bench itself.
var support = regexp.MustCompile(`test$|/agent/script$|internal/bench$|internal/fake$`)

// parsed reads every Go file below cmd and internal, once.
var parsed = sync.OnceValues(func() ([]file, error) {
	var files []file
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				return orSkip(err)
			}
			if !strings.HasSuffix(name, ".go") {
				return nil
			}
			f, err := parse(name)
			files = append(files, f)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
})

func orSkip(err error) error {
	if err == nil {
		return fs.SkipDir
	}
	return err
}

func parse(name string) (file, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return file{}, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return file{}, err
	}
	rel := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
	return file{
		path:  rel,
		pkg:   strings.TrimPrefix(path.Dir(rel), "internal/"),
		test:  strings.HasSuffix(name, "_test.go") || support.MatchString(path.Dir(rel)),
		gen:   strings.HasSuffix(name, "_gen.go"),
		lines: strings.Count(string(text), "\n"),
		set:   set,
		ast:   tree,
	}, nil
}

// all returns every Go file of ours.
func all(t *testing.T) []file {
	t.Helper()
	files, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// product returns the files that the program is made of: neither tests nor generated.
func product(t *testing.T) []file {
	t.Helper()
	var files []file
	for _, f := range all(t) {
		if !f.test && !f.gen {
			files = append(files, f)
		}
	}
	return files
}
