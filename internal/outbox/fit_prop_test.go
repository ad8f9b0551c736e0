package outbox

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"familiar/internal/chat"
)

var fragments = []string{"word", "a", " ", "  ", "\n", "\n\n", "\t", "\r\n", "漢字", "。", "ひらがな", "한글", "😀", "👩‍👩‍👧‍👦", "e\u0301",
	"```", "```go\n", "\n```\n", "~~~\n", "````c++\n", "\n````\n", "`code`", "**b**", "https://example.org/a/b", "- item\n",
	"   ```sh\n", "x := 1\n", "The end. ", "longlonglonglonglonglonglonglong"}

func drawFrame(t *rapid.T) Frame {
	renders := []func(string) string{nil, strings.ToUpper, strings.NewReplacer("a", "&amp;", "\n", "<br>\n").Replace,
		strings.NewReplacer("https://example.org/a/b", "u").Replace}
	return Frame{
		Max:    rapid.IntRange(16, 120).Draw(t, "max"),
		Unit:   rapid.SampledFrom([]chat.Unit{"", chat.Runes, chat.UTF16, chat.Bytes}).Draw(t, "unit"),
		Render: rapid.SampledFrom(renders).Draw(t, "render"),
	}
}

func TestFitKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFrame(t)
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 120).Draw(t, "text"), "")
		pieces, ok := f.pieces(text, true)
		if !ok {
			pieces, _ = f.pieces(text, false)
		}
		var bodies strings.Builder
		for i, p := range pieces {
			bodies.WriteString(p.body)
			if !f.fits(p.String()) {
				t.Fatalf("part %d is over the limit: %q", i, p)
			}
			if !utf8.ValidString(p.String()) || p.body == "" {
				t.Fatalf("part %d is not valid or empty: %q", i, p)
			}
			if ok && i < len(pieces)-1 && !balanced(p.String()) {
				t.Fatalf("part %d leaves a code block open: %q", i, p)
			}
		}
		if bare(bodies.String()) != bare(text) {
			t.Fatalf("text was lost:\n%q\n%q", bodies.String(), text)
		}
	})
}

func TestFitHoldsToParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFrame(t)
		f.Parts = rapid.IntRange(1, 4).Draw(t, "parts")
		f.Truncate = rapid.Bool().Draw(t, "truncate")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 120).Draw(t, "text"), "")
		parts := Fit(text, f)
		if len(parts) > f.Parts {
			t.Fatalf("%d parts, at most %d", len(parts), f.Parts)
		}
		for i, p := range parts {
			if !f.fits(p) {
				t.Fatalf("part %d is over the limit: %q", i, p)
			}
		}
	})
}

func FuzzFit(f *testing.F) {
	f.Add("```go\nfunc main() {}\n```\n\nand so on", 12, 3)
	f.Add("\xff\xfe```\xf0\x9f", 1, 0)
	f.Add(strings.Repeat("e\u0301", 30), -1, 2)
	f.Fuzz(func(t *testing.T, text string, limit, parts int) {
		frame := Frame{Max: limit % 5000, Unit: chat.UTF16, Parts: parts % 50}
		for _, p := range Fit(text, frame) {
			if utf8.ValidString(text) && !utf8.ValidString(p) {
				t.Fatalf("not valid: %q", p)
			}
			if frame.Max >= 2 && !frame.fits(p) {
				t.Fatalf("over the limit of %d: %q", frame.Max, p)
			}
		}
	})
}
