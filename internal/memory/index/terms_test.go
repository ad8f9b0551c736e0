package index

import (
	"slices"
	"strings"
	"testing"
)

// met reports whether a text has what a keyword demands.
func met(text, keyword string) bool {
	have := map[term]bool{}
	each(text, func(t term) { have[t] = true })
	for _, want := range demands(keyword) {
		found := false
		for t := range have {
			found = found || want.first <= t && t <= want.last
		}
		if !found {
			return false
		}
	}
	return true
}

func TestWhatIsDemanded(t *testing.T) {
	for _, c := range []struct {
		text, keyword string
		want          bool
	}{
		{"likes strawberry cake", "berry", true}, {"likes strawberry cake", "barry", false}, {"go", "go", true}, {"ergo", "go", true},
		{"let us go!", "go", true}, {"good", "go", true}, {"te烏龍", "te", true}, {"og", "go", false}, {"我喜歡烏龍茶", "烏龍", true},
		{"我喜歡烏龍茶", "龍烏", false}, {"我喜歡烏龍茶", "茶", true}, {"c++ (beta", "c++", true}, {"a b", "ab", false}, {"tea and", "tea and", true},
	} {
		if got := met(c.text, c.keyword); got != c.want {
			t.Errorf("%q in %q: %v", c.keyword, c.text, got)
		}
	}
}

// Whatever holds a keyword has what the keyword demands: else the index would hide it.
func FuzzDemands(f *testing.F) {
	for _, s := range []string{"likes tea", "烏龍茶", "c++", "te烏", "x\x00y", "🙂🙂", "é", "\xff", "a\u3000b", "İ", strings.Repeat("長", 99)} {
		f.Add(s, 1, 3)
	}
	f.Fuzz(func(t *testing.T, text string, from, length int) {
		text = strings.ToLower(strings.ToValidUTF8(text, "\ufffd"))
		runes := []rune(text)
		if len(runes) == 0 || from < 0 || length <= 0 {
			return
		}
		from %= len(runes)
		keyword := string(runes[from : from+1+(length-1)%(len(runes)-from)])
		if !met(text, keyword) {
			t.Fatalf("%q holds %q and is not found", text, keyword)
		}
	})
}

// A set comes back as it was packed, in either form.
func FuzzSteps(f *testing.F) {
	f.Add([]byte{0, 1, 1, 255}, 600)
	f.Add([]byte{}, 1)
	f.Fuzz(func(t *testing.T, gaps []byte, entries int) {
		entries = max(1, entries%segmentSize)
		var s steps
		var want, got []int
		at := 0
		for _, gap := range gaps {
			if at += int(gap); at >= entries {
				break
			}
			s.add(at)
			s.add(at)
			want = append(want, at)
		}
		var back set
		if err := back.add(s.pack(entries)); err != nil {
			t.Fatal(err)
		}
		back.backwards(func(entry int) bool { got = append(got, entry); return true })
		slices.Reverse(got)
		if !slices.Equal(got, slices.Compact(want)) {
			t.Fatalf("%v came back as %v", want, got)
		}
	})
}

// What lies broken on the disk is an error, and nothing worse.
func FuzzPacked(f *testing.F) {
	for _, s := range []string{"", "\x00\x01", "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x01abc", "\x02", "\x00" + strings.Repeat("\x7f", 2000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(_ *testing.T, packed []byte) {
		var s set
		_ = s.add(packed)
	})
}
