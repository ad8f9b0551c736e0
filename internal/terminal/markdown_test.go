package terminal

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// marked shows the styles of a row as tags.
func marked(rows []string) string {
	text := strings.Join(rows, "\n")
	return strings.NewReplacer("\x1b[0m", "</>", "\x1b[", "<", "m", "m>").Replace(text)
}

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                    "plain",
		"**bold** and *it* `co`":   "\x1b[1mbold\x1b[0m and \x1b[3mit\x1b[0m \x1b[36mco\x1b[0m",
		"***both*** ~~no~~ __b__":  "\x1b[1;3mboth\x1b[0m \x1b[9mno\x1b[0m \x1b[1mb\x1b[0m",
		"2 * 3 * 4, snake_case_x":  "2 * 3 * 4, snake_case_x",
		"**open, `open, [open](":   "**open, `open, [open](",
		`\*no\*`:                   "*no*",
		"``a`b``":                  "\x1b[36ma`b\x1b[0m",
		"# Title #":                "\x1b[1mTitle\x1b[0m",
		"- a\n  * b\n10. c":        "• a\n  • b\n10. c",
		"> quoted":                 "\x1b[2m│ \x1b[0m\x1b[2mquoted\x1b[0m",
		"---":                      "\x1b[2m" + strings.Repeat("─", 30) + "\x1b[0m",
		"```go\n\tx := `*a*`\n```": "  \x1b[36m    x := `*a*`\x1b[0m",
		"````\n```\n````":          "  \x1b[36m```\x1b[0m",
		"```\nnever closed":        "  \x1b[36mnever closed\x1b[0m",
		"[a](http://b/c_(d))":      "\x1b[4ma\x1b[0m\x1b[2m (http://b/c_(d))\x1b[0m",
		"[http://b](http://b)":     "\x1b[4mhttp://b\x1b[0m",
		"<http://b> ![p](q.png)":   "\x1b[4mhttp://b\x1b[0m \x1b[4mp\x1b[0m\x1b[2m (q.png)\x1b[0m",
		"a|b\n-|-\n**c**|dd\n":     "\x1b[1ma\x1b[0m  \x1b[1mb\x1b[0m\n\x1b[2m─────\x1b[0m\n\x1b[1mc\x1b[0m  dd",
		"one\n\n\ntwo\n":           "one\n\n\ntwo",
		"\x1b[31mred\x07\u202Ex":   "[31mredx",
	} {
		if got := strings.Join(Markdown(text, 30), "\n"); got != want {
			t.Errorf("%q:\n%q, want\n%q", text, got, want)
		}
	}
}

func TestWrapping(t *testing.T) {
	for text, want := range map[string]string{
		"one two three four five":             "one two three\nfour five",
		"- one two three four five":           "• one two three\n  four five",
		"averyveryverylongwordindeed x":       "averyveryverylon\ngwordindeed x",
		"我喜歡喝烏龍茶和鐵觀音還有綠茶":                     "我喜歡喝烏龍茶和\n鐵觀音還有綠茶",
		"我喜歡喝烏龍茶和,鐵觀音":                        "我喜歡喝烏龍茶\n和,鐵觀音",
		"**one two three four** five":         "\x1b[1mone two three\x1b[0m\n\x1b[1mfour\x1b[0m five",
		"| one two | three | four |\n|-|-|-|": "| one two |\n  three | four |\n|-|-|-|",
	} {
		if got := strings.Join(Markdown(text, 16), "\n"); got != want {
			t.Errorf("%q:\n%s, want\n%s", text, marked(strings.Split(got, "\n")), want)
		}
	}
	if got := strings.Join(Plain("**one** two\tthree\n\nfour", 16), "\n"); got != "**one** two\nthree\n\nfour" {
		t.Errorf("%q", got)
	}
}

// words is a text without its white space.
func words(text string) string { return strings.Join(strings.Fields(text), "") }

// No row is too wide, nothing but styles steers the terminal, and where nothing is styled nothing is lost.
func TestMarkdownOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"*", "**", "_", "`", "```\n", "\n", " ", "- ", "> ", "#", "|", "-|-\n", "[", "](", ")",
			"word", "烏龍茶", "👩‍👩‍👧", "é́", "\\", "1. ", "\x1b[2J", "\t", "~~", "<http://a>", "!"})).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		columns := rapid.IntRange(1, 60).Draw(t, "columns")
		fenced := strings.Contains(text, "```") || strings.Contains(text, "~~~")
		for _, row := range append(Markdown(text, columns), Plain(text, columns)...) {
			bare := plain(row)
			if strings.ContainsFunc(bare, unicode.IsControl) {
				t.Fatalf("%q steers: %q", text, row)
			}
			if wide := Width(bare); wide > max(columns, leastColumns) && !fenced {
				t.Fatalf("%q: a row of %d columns, of %d: %q", text, wide, columns, bare)
			}
		}
		if got, want := words(strings.Join(Plain(text, columns), "")), words(Clean(text)); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

func TestFlat(t *testing.T) {
	if got := Flat(" a\n\x1b[31m\tb\r\n"); got != "a [31m b" {
		t.Errorf("%q", got)
	}
}

func TestFit(t *testing.T) {
	for text, want := range map[string]string{"short": "short", "烏龍茶很香": "烏龍茶…", "0123456789": "0123456…"} {
		if got := Fit(text, 8); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
