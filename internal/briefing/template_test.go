package briefing

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// prompts returns a Prompts over a directory with the given files, and what it logs.
func prompts(t *testing.T, files map[string]string) (Prompts, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	return Prompts{dir: dir, log: slog.New(slog.NewTextHandler(&log, nil)), kept: &pages{}}, &log
}

func TestTemplate(t *testing.T) {
	vars := Vars{IsDm: true, Platform: "web", UserContextMessage: "{{ platform }} {{ include \"b.md\" }} {{ if isDm }}", Model: "m"}
	files := map[string]string{
		"character_name.md": " Mio \n", "b.md": "\n<{{ platform }}>\n", "c.md": "{{ b }}{{ else_where }}", "else_where.md": "!",
	}
	for name, c := range map[string]struct{ text, want string }{
		"words":                          {"  a { b } }} c \n", "a { b } }} c"},
		"a variable":                     {"on {{platform}} / {{ model }}", "on web / m"},
		"AF-82 a file beside it":         {"I am {{character_name}}.", "I am Mio."},
		"AF-83 neither":                  {"a {{nothing_here}} {{  nothing-there }} b", "a {{nothing_here}} {{  nothing-there }} b"},
		"a file is a template too":       {"{{ b }}{{ c }}", "<web><web>!"},
		"include":                        {`{{ include "b.md" }}{{include "b.md"}}`, "<web><web>"},
		"if, set":                        {"{{ if isDm }}dm{{ else }}group{{ end }}", "dm"},
		"if, not set":                    {"{{ if yolo }}yolo{{ else }}careful{{ end }} {{ if guildId }}guild{{ end }}.", "careful ."},
		"ifs in each other":              {"{{ if isDm }}a{{ if guildId }}b{{ else }}c{{ end }}d{{ end }}", "acd"},
		"a truth as words":               {"{{ isDm }} {{ yolo }}", "true false"},
		"trim marks":                     {"a \n {{- platform -}} \n b \n {{- /* x */ -}} c {{ platform -}}\n\n{{- model }}", "awebbc webm"},
		"comments":                       {"a{{/* {{ platform }} and }} too */}}b {{/* two\nlines */}}c", "ab c"},
		"not a tag":                      {"{{ 1 + 2 }} {{ a.b }} {{}} {{ {{ platform }} {{ open", "{{ 1 + 2 }} {{ a.b }} {{}} {{ web {{ open"},
		"no escaping":                    {"<b>&amp;</b> {{ platform }}", "<b>&amp;</b> web"},
		"BUG-J09 people's words stay so": {"[{{ userContextMessage }}]", "[" + vars.UserContextMessage + "]"},
	} {
		t.Run(name, func(t *testing.T) {
			files["entry.md"] = c.text
			p, log := prompts(t, files)
			page, err := p.Load("entry.md")
			if err != nil {
				t.Fatal(err)
			}
			if got := page.Render(vars); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			warned := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), "nothing_here")
			if warned != strings.Contains(c.text, "nothing_here") {
				t.Errorf("log: %s", log)
			}
		})
	}
}

func TestTemplateErrorsNameFileAndLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"AF-85 a missing include":   {"a\n{{ include \"gone.md\" }}", "entry.md:2: include \"gone.md\": there is no file"},
		"AF-85 in the other branch": {"{{ if yolo }}{{ include \"gone.md\" }}{{ end }}", "gone.md"},
		"outside":                   {`{{ include "../secret.md" }}`, "same directory"},
		"outside, absolute":         {`{{ include "/etc/passwd" }}`, "same directory"},
		"no end":                    {"\n\n{{ if isDm }}x", "entry.md:3: if isDm has no {{ end }}"},
		"end alone":                 {"x {{ end }}", "without an if"},
		"else alone":                {"x {{ else }}", "without an if"},
		"two elses":                 {"{{ if isDm }}{{ else }}{{ else }}{{ end }}", "second {{ else }}"},
		"a condition":               {"{{ if isDm && yolo }}{{ end }}", "write {{ if NAME }}"},
		"no such variable":          {"{{ if isDM }}{{ end }}", "if isDM: there is no such variable"},
		"it takes itself in":        {`{{ include "loop.md" }}`, "more than 8 deep"},
		"it takes too much in":      {strings.Repeat(`{{ include "b.md" }}`, 70), "more than 64 files"},
		"too many ifs":              {strings.Repeat("{{ if isDm }}", 40), "more than 32 ifs"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := prompts(t, map[string]string{"entry.md": c.text, "b.md": "b", "loop.md": "{{ loop }}"})
			_, err := p.Load("entry.md")
			var broken PromptError
			if !errors.As(err, &broken) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

// AF-84: a symbolic link counts, and what it leads to is read at each use.
func TestTemplateReadsFilesAtEachUse(t *testing.T) {
	p, _ := prompts(t, map[string]string{"entry.md": "I am {{ character_name }}.", "one": "Mio", "two": "Rin"})
	link := filepath.Join(p.dir, "character_name.md")
	for _, target := range []string{"one", "two"} {
		_ = os.Remove(link)
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		page, err := p.Load("entry.md")
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"one": "I am Mio.", "two": "I am Rin."}[target]
		if got := page.Render(Vars{}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPromptsOfTheInstanceWin(t *testing.T) {
	p, _ := prompts(t, map[string]string{"character_name.md": "Mio"})
	page, err := p.Load(ReplyPrompt)
	if err != nil {
		t.Fatal(err)
	}
	if got := page.Render(Vars{}); !strings.Contains(got, "Your name is Mio.") || !strings.Contains(got, "- Calm.") {
		t.Errorf("got %.200q", got)
	}
}

func TestPromptFilesAreBounded(t *testing.T) {
	p, _ := prompts(t, map[string]string{"long.md": strings.Repeat("a", longestFile+1), "bom.md": "\uFEFFhi"})
	if err := os.Mkdir(filepath.Join(p.dir, "dir.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"long.md", "dir.md", "gone.md", "../x.md"} {
		var broken PromptError
		if _, err := p.Load(file); !errors.As(err, &broken) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: got %v", file, err)
		}
	}
	page, err := p.Load("bom.md")
	if got := page.Render(Vars{}); err != nil || got != "hi" {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzTemplate(f *testing.F) {
	f.Add("{{ if isDm }}a{{- else -}}b{{ end }} {{/* c */}} {{ x }} {{ include \"b.md\" }}")
	f.Add("{{{{}}}} {{- -}} {{/**/}} {{--}} {{")
	f.Fuzz(func(t *testing.T, text string) {
		read := func(file string) (string, string, bool, error) { return text, file, file == "b.md", nil }
		p := &parser{read: read, entry: "entry.md", log: slog.New(slog.DiscardHandler)}
		parsed, err := p.parse(text, "entry.md", 1)
		if err != nil {
			return
		}
		got := Page{parsed}.Render(Vars{UserContextMessage: "said"})
		if !strings.Contains(text, "{{") && got != strings.TrimSpace(text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
