package briefing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPageIsParsedOnceUntilAFileChanges(t *testing.T) {
	p, _ := prompts(t, map[string]string{"entry.md": "{{ inner }} {{ character_name }}", "inner.md": "one"})
	load := func() Page {
		t.Helper()
		page, err := p.Load("entry.md")
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	same := func(a, b Page) bool { return &a.file[0] == &b.file[0] }
	first := load()
	if !same(first, load()) {
		t.Error("a prompt of the same files was parsed again")
	}
	builtin := first.Render(Vars{})
	for _, c := range []struct{ file, text, want string }{
		{"inner.md", "two", strings.Replace(builtin, "one", "two", 1)},
		{"character_name.md", "Mio", "two Mio"}, // a file that was not there
		{"inner.md", "", " Mio"},
		{"entry.md", "{{ if isDm }}", ""}, // broken
		{"entry.md", "{{ inner }}!", "!"},
		{"inner.md", "three", "three!"},
	} {
		if err := os.WriteFile(filepath.Join(p.dir, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		page, err := p.Load("entry.md")
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: %q is no error", c.file, c.text)
			}
			continue
		}
		if got := page.Render(Vars{}); err != nil || got != strings.TrimSpace(c.want) {
			t.Errorf("%s: %q: got %q, %v, want %q", c.file, c.text, got, err, c.want)
		}
	}
	last := load()
	if err := os.Remove(filepath.Join(p.dir, "inner.md")); err != nil {
		t.Fatal(err)
	}
	if got := load(); same(last, got) || got.Render(Vars{}) != "{{ inner }}!" {
		t.Errorf("without a file: %q", got.Render(Vars{}))
	}
}
