package markup

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPlain(t *testing.T) {
	for source, want := range map[string]string{
		"call `my_func_name()` in `__init__`":                                   "call my_func_name() in __init__",
		"call my_func_name() in __init__":                                       "call my_func_name() in __init__",               // BUG-A13
		"obj.__class__.__name__ and __init__.py":                                "obj.__class__.__name__ and __init__.py",        // BUG-A13
		"a*b*c, 2**3**4, f(*args, **kwargs), 2 * 3 * 4":                         "a*b*c, 2**3**4, f(*args, **kwargs), 2 * 3 * 4", // BUG-A13
		"_foo_bar_ and _x1_":                                                    "_foo_bar_ and _x1_",                            // BUG-A13
		"**bold**, *em*, _em_, __two words__, ***all***":                        "bold, em, em, two words, all",
		"~~gone~~ and ~/x~":                                                     "gone and ~/x~",
		"这是**重点**内容，*好*。":                                                       "这是重点内容，好。",
		"**a `b` c**":                                                           "a b c",
		"**[x](http://y)** z":                                                   "x (http://y) z",
		"[words](http://a/b_(c)) <http://d> [http://e](http://e) ![pic](f.png)": "words (http://a/b_(c)) http://d http://e pic (f.png)",
		"[note]: this stays":                                                    "[note]: this stays",
		`\*no\* &amp; C:\dir`:                                                   `*no* & C:\dir`,
		"# Title #\ntext\n\n\nmore\n":                                           "Title\ntext\n\nmore",
		"- a\n  - b\n- c\n\n3. x\n4. y":                                         "- a\n  - b\n- c\n\n3. x\n4. y",
		"1) a\n\n   b":                                                          "1) a\n\n   b",
		"> q\n> r":                                                              "> q\n> r",
		"```go\n\tx := *p\n\n**no**\n```\nend":                                  "\tx := *p\n\n**no**\nend",
		"```\nnever closed":                                                     "never closed",
		"a|b\n-|-\n**c**|`d`":                                                   "a | b\nc | d",
		"one\ntwo  \nthree":                                                     "one\ntwo\nthree",
		"---":                                                                   "---",
		"x <b>y</b>":                                                            "x <b>y</b>",
		"#":                                                                     "#",
		"":                                                                      "",
		"plain words, nothing else":                                             "plain words, nothing else",
		"`` a`b ``":                                                             "a`b",
	} {
		if got := Plain(source); got != want {
			t.Errorf("%q:\n%q, want\n%q", source, got, want)
		}
	}
}

// BUG-A12: every code span comes out whole and in its order, however many there are.
func TestCodeSpansStayWhole(t *testing.T) {
	span := rapid.StringMatching(`[A-Za-z0-9_*~$<>&\[\]()#|!\\-]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "spans")
		var source, want []string
		for i := range n {
			code := span.Draw(t, "code")
			source = append(source, fmt.Sprintf("word%d `%s`", i, code))
			want = append(want, fmt.Sprintf("word%d %s", i, code))
		}
		if got := Plain(strings.Join(source, " ")); got != strings.Join(want, " ") {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// BUG-A13: identifiers stay as they are, alone and beside real emphasis.
func TestIdentifiersStay(t *testing.T) {
	name := rapid.StringMatching(`[a-z]{1,5}(_[a-z0-9]{1,4}){0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		var source, want []string
		for range rapid.IntRange(1, 12).Draw(t, "words") {
			word := name.Draw(t, "name")
			switch rapid.IntRange(0, 4).Draw(t, "form") {
			case 0:
				word = "__" + word + "__"
			case 1:
				word = "_" + word
			case 2:
				source, want = append(source, "**"+word+"**"), append(want, word)
				continue
			case 3:
				word += "()"
			}
			source, want = append(source, word), append(want, word)
		}
		if got := Plain(strings.Join(source, " ")); got != strings.Join(want, " ") {
			t.Fatalf("%q of %q, want %q", got, source, want)
		}
	})
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"", "**a** _b_ `c`", "> - ```\n>   x", "[a](b \"c\")", "|a|\n|-|\n|b|", "*_**x**_*", "<!-- -->", "&#0;\\", "1. a\n\n\t- b", "***a** b*", "a*漢*b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got := Plain(source)
		if utf8.ValidString(source) && !utf8.ValidString(got) {
			t.Errorf("%q became %q, which is no text", source, got)
		}
		if strings.TrimSpace(source) != "" && strings.TrimSpace(got) == "" {
			t.Errorf("%q became nothing", source)
		}
	})
}
