package shape

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// named finds what looks like a path of this repository.
	named = regexp.MustCompile(`(?:^|[\s` + "`" + `(«"])((?:internal|cmd|docs|scripts|tools|testdata|\.ci)/[A-Za-z0-9_./-]*[A-Za-z0-9_])`)
	// linked finds the target of a Markdown link within the repository.
	linked = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	// foreignWords are traces of the machine that something was written on.
	foreignWords = regexp.MustCompile(`registry\.[a-z]+\.(?:org|com)|"resolved":`)
	texts        = regexp.MustCompile(`(?:\.(?:go|mod|md|txt|json|jsonl|ya?ml|html|css|js|txtar|npmrc)|/Makefile|/scripts/[a-z]+|/\.ci/run)$`)
)

// TestDocumentsNameWhatExists opens every path that a document names.
func TestDocumentsNameWhatExists(t *testing.T) {
	walk(t, func(name, text string) {
		if !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "internal/") {
			return
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", name, m[1])
			}
		}
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	})
}

func TestChangelogHasOneUnreleased(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(regexp.MustCompile(`(?m)^## \[?Unreleased\]?`).FindAll(text, -1)); n != 1 {
		t.Errorf("CHANGELOG.md has %d headings «Unreleased», not one", n)
	}
}

// TestBehaviourRows holds the form that readers of docs/behaviour.md rely on: one row, one reason.
func TestBehaviourRows(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/behaviour.md"))
	if err != nil {
		t.Fatal(err)
	}
	row, seen := regexp.MustCompile(`^- ([A-Z]+-[A-Z]?\d+): \S.{20,}`), map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil || seen[m[1]] {
			t.Errorf("docs/behaviour.md: not «- ID: reason», or said twice: %s", line)
			continue
		}
		seen[m[1]] = true
	}
	if len(seen) == 0 {
		t.Error("docs/behaviour.md lists no row")
	}
}

// TestDecisions holds the form of docs/decisions: numbered without a gap, three headings, ten to thirty lines.
func TestDecisions(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs/decisions/*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("docs/decisions is empty: ", err)
	}
	for i, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name, number := filepath.Base(page), fmt.Sprintf("%03d", i+1)
		if !strings.HasPrefix(name, number+"-") || !strings.HasPrefix(string(text), "# "+number+". ") {
			t.Errorf("docs/decisions/%s: the next number is %s, in the name and in the title", name, number)
		}
		for _, heading := range []string{"\n## Context\n", "\n## Choice\n", "\n## What we gave up\n"} {
			if !strings.Contains(string(text), heading) {
				t.Errorf("docs/decisions/%s lacks %q", name, strings.TrimSpace(heading))
			}
		}
		if n := strings.Count(string(text), "\n"); n < 10 || n > 30 {
			t.Errorf("docs/decisions/%s has %d lines, not 10–30", name, n)
		}
	}
}

func TestNoTracesOfAMachine(t *testing.T) {
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	walk(t, func(name, text string) {
		found := foreignWords.FindString(text)
		if strings.Count(here, "/") > 1 && strings.Contains(text, here+"/") {
			found = here
		}
		if found != "" && !strings.HasPrefix(name, "internal/shape/") {
			t.Errorf("%s says %q: nothing outside this machine knows it", name, found)
		}
	})
}

// walk hands every text file of the repository to see.
func walk(t *testing.T, see func(name, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(name, root), string(filepath.Separator)))
		if d.IsDir() {
			if d.Name() == "node_modules" {
				return fs.SkipDir
			}
			switch rel {
			case ".git", "bin", "tmp":
				return fs.SkipDir
			}
			return nil
		}
		if !texts.MatchString("/" + rel) {
			return nil
		}
		text, err := os.ReadFile(name)
		see(rel, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
