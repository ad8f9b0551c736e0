package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent/script"
)

// oddNames are names that a folder may have, and that something on the way to the agent could take for more than a
// name: an address, a pattern, a list, a variable, a flag, a home.
var oddNames = []string{
	"with space", " leading", "trailing ", "two  spaces", "~", "~root", "a~b", "@", "user@host", ".hidden", "a.b.c", "dot.",
	"…", "-dash", "--dir", "=", "a=b", "100%", "%41%2F", "#hash", "who?", "a&b", "a;b", "a:b", "a,b", "'quoted'", `"double"`,
	"`tick`", "$HOME", "${HOME}", "{x}", "[a-z]*", `back\slash`, "(paren)", "a|b", "<in>", "!", "familiar.db", "tab\there",
	"line\nbreak", "é", "e\u0301", "日本語 フォルダ", "中文", "кот", "עברית", "🦊", "\u200bzero", "bad\xffbyte",
	strings.Repeat("long", 50), "deep/er and/de.per",
}

// BUG-L07: a bot lives wherever it is put: it starts, an agent works in its folders and answers, and what it knew is
// there at the next start.
func TestOddPaths(t *testing.T) {
	config := scripted(t, script.Turn{On: "what was it", Steps: []script.Step{{Call: "memory-search", Args: []byte(`{"query":"tea"}`)}, {Call: "send-reply", Args: []byte(`{"message":"it was: {{answer}}"}`)}}},
		script.Turn{Steps: []script.Step{{Write: "note.md"}, {Read: "note.md"},
			{Call: "memory-save", Args: []byte(`{"content":"likes tea","visibility":"private"}`)}, reply("hi")}})
	for i, name := range oddNames {
		t.Run(strings.ToValidUTF8(strings.Map(printable, name), "_"), func(t *testing.T) {
			t.Parallel()
			b := newBot(t, "")
			b.dir = filepath.Join(b.dir, name)
			write(t, filepath.Join(b.dir, "config.yaml"), config)
			b.start()
			if code, out, errs := b.run("say", "--dir", b.dir, "hello"); code != 0 || out != "hi\n" {
				t.Fatal(code, out, errs)
			}
			if _, err := os.Stat(filepath.Join(b.dir, "data/workspaces/web/owner/work/note.md")); err != nil {
				t.Error("the agent did not stand in its folder:", err)
			}
			if i%8 != 0 { // the start itself is the same; some are enough for the second
				return
			}
			if code := b.stop(); code != 0 {
				t.Fatal("exit", code)
			}
			b.start()
			if code, out, errs := b.run("say", "--dir", b.dir, "what was it"); code != 0 || !strings.Contains(out, "likes tea") {
				t.Error(code, out, errs)
			}
		})
	}
}

// printable makes a name fit for that of a test.
func printable(r rune) rune {
	if r < ' ' || r == '/' {
		return '_'
	}
	return r
}
