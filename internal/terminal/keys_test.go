package terminal

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func typed(text string) Key { return Key{Typed, text} }

func TestKeys(t *testing.T) {
	for input, want := range map[string][]Key{
		"héllo":                   {typed("héllo")},
		"a\rb":                    {typed("a"), {Code: Enter}, typed("b")},
		"\x1b\r":                  {{Code: NewLine}},
		"ahead\n":                 {typed("ahead"), {Code: Enter}},
		"\x1b[13;2u":              {{Code: NewLine}},
		"\x03\x04":                {{Code: Interrupt}, {Code: EndOfInput}},
		"\x1b[A\x1bOB\x1b[C":      {{Code: Up}, {Code: Down}, {Code: Right}},
		"\x1b[1;5D\x1bb\x1b[1;3C": {{Code: WordLeft}, {Code: WordLeft}, {Code: WordRight}},
		"\x01\x05\x17\x15\x0b":    {{Code: Start}, {Code: End}, {Code: BackWord}, {Code: KillStart}, {Code: KillEnd}},
		"\x1b[3~\x7f\x1b\x7f":     {{Code: Delete}, {Code: Backspace}, {Code: BackWord}},
		"\t\x1b[Z":                {{Code: Tab}, {Code: BackTab}},
		"\x1b[200~a\rb\r\nc\td\x1b[31m\x1b[201~x": {{Pasted, "a\nb\nc    d[31m"}, typed("x")},
		"\x1b[99;99zx": {typed("x")},
		"\x1b\x1b[A":   {{Code: Escape}, {Code: Up}},
		"\x00\x1c":     nil,
		"a\xffb":       {typed("ab")},
	} {
		whole := (&decoder{}).feed([]byte(input))
		if !reflect.DeepEqual(whole, want) {
			t.Errorf("%q: %v, want %v", input, whole, want)
		}
		// Byte by byte it means the same, but that letters come one by one.
		var d decoder
		var pieces []Key
		for i := range len(input) {
			pieces = append(pieces, d.feed([]byte{input[i]})...)
		}
		if got := joined(pieces); !reflect.DeepEqual(got, joined(want)) {
			t.Errorf("%q in bytes: %v, want %v", input, got, want)
		}
	}
}

// joined puts letters together that came one after the other.
func joined(keys []Key) []Key {
	var all []Key
	for _, k := range keys {
		if n := len(all) - 1; n >= 0 && k.Code == Typed && all[n].Code == Typed {
			all[n].Text += k.Text
			continue
		}
		all = append(all, k)
	}
	return all
}

func TestAnEscapeAloneIsAKeyAfterAWhile(t *testing.T) {
	var d decoder
	if got := d.feed([]byte{escape}); got != nil {
		t.Errorf("at once: %v", got)
	}
	if got := d.settle(); !reflect.DeepEqual(got, []Key{{Code: Escape}}) {
		t.Errorf("after a while: %v", got)
	}
	d.feed([]byte(pasteBegin + "half"))
	if got := d.settle(); got != nil {
		t.Errorf("in the middle of a paste: %v", got)
	}
	if got := d.feed([]byte(" of it" + pasteEnd)); !reflect.DeepEqual(got, []Key{{Pasted, "half of it"}}) {
		t.Errorf("the paste: %v", got)
	}
}

func TestALongPasteComesInPieces(t *testing.T) {
	var d decoder
	text := strings.Repeat("長", maxPaste)
	var keys []Key
	for piece := range slices.Chunk([]byte(pasteBegin+text+pasteEnd), 64<<10) {
		keys = append(keys, d.feed(piece)...)
	}
	var got strings.Builder
	for _, k := range keys {
		got.WriteString(k.Text)
	}
	if len(keys) < 2 || got.String() != text {
		t.Errorf("%d pieces, %d bytes of %d", len(keys), got.Len(), len(text))
	}
}

// Whatever a terminal sends, what becomes text steers none.
func FuzzKeys(f *testing.F) {
	for _, seed := range []string{"a\r", "\x1b[A", "\x1b[200~x\x1b[201~", "\x1b[", "\x1b[1;5", "長\xff", "\x1b\x1b", "\x1bO"} {
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		at = min(max(at, 0), len(data))
		var d decoder
		keys := append(d.feed(data[:at]), d.feed(data[at:])...)
		for _, k := range append(keys, d.settle()...) {
			if !utf8.ValidString(k.Text) || strings.ContainsFunc(k.Text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
				t.Errorf("%q became %q", data, k.Text)
			}
		}
		if !d.pasting && len(d.rest) > 0 {
			t.Errorf("%q leaves %q", data, d.rest)
		}
	})
}
