package outbox

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"familiar/internal/chat"
)

// checkParts fails unless every part holds to the frame, is balanced (its code blocks are closed) and, where
// the text was valid, valid UTF-8.
func checkParts(t *testing.T, f Frame, parts []string) {
	t.Helper()
	for i, p := range parts {
		shown := p
		if f.Render != nil {
			shown = f.Render(p)
		}
		if n := length(shown, f.Unit); n > f.Max {
			t.Errorf("part %d has %d %s, the limit is %d: %.60q", i, n, f.Unit, f.Max, p)
		}
		if !utf8.ValidString(p) {
			t.Errorf("part %d is not valid UTF-8: %.60q", i, p)
		}
		if !balanced(p) {
			t.Errorf("part %d leaves a code block open: %q", i, p)
		}
	}
}

func balanced(s string) bool {
	var open fence
	for line := range strings.SplitSeq(s, "\n") {
		_, open = open.read(line)
	}
	return !open.opened()
}

// bare returns s without white space.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func TestFitCutsWhereAReaderWould(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		f    Frame
		want []string
	}{
		"a text that fits is untouched": {" hi \n", Frame{Max: 5}, []string{" hi \n"}},
		"BUG-A09 a limit of 0":          {"abc", Frame{Max: 0, Truncate: true}, []string{"abc"}},
		"BUG-A09 a limit of -1":         {"abc", Frame{Max: -1, Parts: 1}, []string{"abc"}},
		"paragraph before line": {"one two\nthree\n\nfour five\nsix", Frame{Max: 24},
			[]string{"one two\nthree", "four five\nsix"}},
		"line before sentence": {"One. Two\nthree. Four five", Frame{Max: 16}, []string{"One. Two", "three. Four five"}},
		"sentence before word": {"One two three. Four five six", Frame{Max: 20}, []string{"One two three.", "Four five six"}},
		"word":                 {"one two three", Frame{Max: 9}, []string{"one two", "three"}},
		"a nested list keeps its indentation": {"- first one\n\n  - two\n  - three", Frame{Max: 18},
			[]string{"- first one", "  - two\n  - three"}},
		"an address stays whole": {"see it at https://example.org/a/b/c", Frame{Max: 30},
			[]string{"see it at", "https://example.org/a/b/c"}},
		"a Chinese sentence": {"今天天氣很好。我們去公園散步吧", Frame{Max: 12}, []string{"今天天氣很好。", "我們去公園散步吧"}},
		"Chinese punctuation does not begin a part": {"一二三四五，六七八", Frame{Max: 5},
			[]string{"一二三四", "五，六七八"}},
		"no natural place": {"abcdefgh", Frame{Max: 3}, []string{"abc", "def", "gh"}},
		"not inside a grapheme": {"ab👩‍👩‍👧‍👦cd", Frame{Max: 8},
			[]string{"ab", "👩‍👩‍👧‍👦", "cd"}},
		"BUG-A18 at most so many parts, and the rest is not dropped silently": {"one two three four five",
			Frame{Max: 6, Parts: 2}, []string{"one", "two…"}},
		"trailing space alone is no cut": {"one" + strings.Repeat(" ", 9), Frame{Max: 4, Parts: 1}, []string{"one"}},
		"white space alone":              {strings.Repeat(" \n", 9), Frame{Max: 4}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Fit(c.text, c.f); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestFitTruncatesAsTheOlderBehaviour(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		f    Frame
		want string
	}{
		"three short":         {"one two three", Frame{Max: 10}, "one two..."},
		"not by words":        {"abcdefghijklm", Frame{Max: 10}, "abcdefg..."},
		"not in a grapheme":   {"abcdef👍🏽ijklm", Frame{Max: 10}, "abcdef..."},
		"UTF-16":              {"😀😀😀😀😀😀", Frame{Max: 8, Unit: chat.UTF16}, "😀😀..."},
		"no room for dots":    {"abcd", Frame{Max: 3}, "abc"},
		"one character of it": {"abcde", Frame{Max: 4}, "a..."},
	} {
		t.Run(name, func(t *testing.T) {
			c.f.Truncate = true
			if got := Fit(c.text, c.f); len(got) != 1 || got[0] != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// BUG-A01: the space for the synthetic closing fence is reserved, whatever the line looks like.
func TestFitReservesTheClosingFence(t *testing.T) {
	for tail := 1985; tail <= 2005; tail++ {
		text := "```js\nlet a = 1\n```" + strings.Repeat("x", tail)
		f := Frame{Max: 2000}
		pieces, ok := f.pieces(text, true)
		if !ok {
			t.Fatalf("tail %d: not balanced", tail)
		}
		var bodies string
		for i, p := range pieces {
			bodies += p.body
			if i < len(pieces)-1 && !balanced(p.String()) {
				t.Errorf("tail %d: part %d leaves the block open", tail, i)
			}
			if n := len(p.String()); n > 2000 {
				t.Errorf("tail %d: part %d has %d characters", tail, i, n)
			}
		}
		if bare(bodies) != bare(text) {
			t.Errorf("tail %d: text was lost", tail)
		}
	}
}

// BUG-A03: where there is no room for fences, bounded slices go out.
func TestFitWithoutRoomForFences(t *testing.T) {
	text := "```python\nprint('hello')\nprint('world')\n```"
	parts := Fit(text, Frame{Max: 8})
	for _, p := range parts {
		if len(p) > 8 {
			t.Errorf("%q is longer than 8", p)
		}
	}
	if bare(strings.Join(parts, "")) != bare(text) {
		t.Errorf("text was lost: %q", parts)
	}
}

// BUG-A06: one owner of splitting, so that a block which crosses the limit goes on as code.
func TestFitReopensACodeBlock(t *testing.T) {
	code := strings.Repeat("some_call(argument) // words\n", 250)
	text := "Here it is:\n\n```go\n" + code + "```\n\n" + strings.Repeat("And so on. ", 160)
	f := Frame{Max: 4000}
	parts := Fit(text, f)
	checkParts(t, f, parts)
	if len(parts) != 3 || !strings.HasPrefix(parts[1], "```go\nsome_call(") || !strings.HasSuffix(parts[0], "words\n```") {
		t.Errorf("%d parts; the second begins %.40q", len(parts), parts[1])
	}
	joined := strings.ReplaceAll(strings.Join(parts, "\n"), "\n```\n```go\n", "\n")
	if bare(joined) != bare(text) {
		t.Error("text was lost")
	}
}

// BUG-A10: the tag ends at the newline, and without a newline there is none.
func TestFitKeepsInfoStrings(t *testing.T) {
	for _, tag := range []string{"c++", "objective-c++", "c#", "js title=\"a b\"", ""} {
		text := "```" + tag + "\n" + strings.Repeat("int x;\n", 20) + "```"
		f := Frame{Max: 80}
		parts := Fit(text, f)
		checkParts(t, f, parts)
		for i, p := range parts {
			if !strings.HasPrefix(p, "```"+tag+"\nint x;\n") {
				t.Errorf("tag %q: part %d begins %.30q", tag, i, p)
			}
		}
	}
	one := "```code``` and some words.\n" + strings.Repeat("Further words of the text.\n", 8)
	f := Frame{Max: 60}
	parts := Fit(one, f)
	checkParts(t, f, parts)
	if strings.Count(strings.Join(parts, "\n"), "```") != 2 {
		t.Errorf("a code span opened a block: %q", parts)
	}
}

func TestFitKeepsTheKindOfFence(t *testing.T) {
	f := Frame{Max: 60}
	text := "1. do\n   ~~~~sh\n" + strings.Repeat("   ~~~ is text here\n", 6) + "   ~~~~\nend"
	parts := Fit(text, f)
	checkParts(t, f, parts)
	if len(parts) < 3 || !strings.HasPrefix(parts[1], "   ~~~~sh\n   ~~~ is") || !strings.HasSuffix(parts[1], "\n   ~~~~") {
		t.Errorf("%q", parts)
	}
}

func TestFitCutsTheLastPartInsideACodeBlock(t *testing.T) {
	f := Frame{Max: 40, Parts: 2}
	parts := Fit("```go\n"+strings.Repeat("a := 1\n", 40)+"```", f)
	checkParts(t, f, parts)
	if len(parts) != 2 || !strings.HasSuffix(parts[1], "…\n```") {
		t.Errorf("%q", parts)
	}
}

// BUG-A04, BUG-A07: what a platform adds when it renders counts before the cut.
func TestFitMeasuresAfterRendering(t *testing.T) {
	italic := func(s string) string { return "_" + s + "_" }
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace
	padded := func(s string) string { return strings.ReplaceAll(s, "|", strings.Repeat(" ", 12)+"|") }
	for name, c := range map[string]struct {
		text   string
		max    int
		render func(string) string
	}{
		"BUG-A04 italic marks around 2,000 characters": {strings.Repeat("a", 2000), 2000, italic},
		"BUG-A07 a wide table":                         {strings.Repeat("| a | b | c |\n", 280), 4096, padded},
		"escapes":                                      {strings.Repeat("<&", 900), 1000, escape},
	} {
		t.Run(name, func(t *testing.T) {
			f := Frame{Max: c.max, Render: c.render}
			parts := Fit(c.text, f)
			checkParts(t, f, parts)
			if bare(strings.Join(parts, "")) != bare(c.text) {
				t.Error("text was lost")
			}
		})
	}
}

// BUG-A15: the platform's own unit, and never inside a character.
func TestFitCountsInThePlatformsUnit(t *testing.T) {
	mixed := strings.Repeat("a", 1999) + "漢字😀"
	for name, c := range map[string]struct {
		text  string
		f     Frame
		parts int
	}{
		"bytes":                        {mixed, Frame{Max: 2000, Unit: chat.Bytes}, 2},
		"4,096 Cyrillic letters":       {strings.Repeat("ж", 4096), Frame{Max: 4096, Unit: chat.UTF16}, 1},
		"2,049 surrogate pairs":        {strings.Repeat("😀", 2049), Frame{Max: 4096, Unit: chat.UTF16}, 2},
		"2,000 code points":            {strings.Repeat("😀", 2000), Frame{Max: 2000, Unit: chat.Runes}, 1},
		"an odd limit, pairs":          {strings.Repeat("😀", 10), Frame{Max: 5, Unit: chat.UTF16}, 5},
		"a character wider than Max":   {"漢字", Frame{Max: 4, Unit: chat.Bytes}, 2},
		"BUG-A18 2,600 in 2,000":       {strings.Repeat("word ", 520), Frame{Max: 2000}, 2},
		"a cluster longer than a part": {"e" + strings.Repeat("\u0301", 20), Frame{Max: 7}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			parts := Fit(c.text, c.f)
			checkParts(t, c.f, parts)
			if len(parts) != c.parts {
				t.Errorf("%d parts, want %d", len(parts), c.parts)
			}
			if bare(strings.Join(parts, "")) != bare(c.text) {
				t.Error("text was lost")
			}
		})
	}
}
