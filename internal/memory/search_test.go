package memory

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSearch(t *testing.T) {
	r := newRig(t)
	for _, text := range []string{"uses C++ (beta) at work", "likes Tea", "likes tea and coffee", "喜歡喝烏龍茶", `said "maybe"`} {
		r.save(false, text, "")
	}
	for query, want := range map[string][]string{
		"C++ (beta":    {"uses C++ (beta) at work"}, // AF-145
		"normal":       {},                          // AF-146: every line says it, no content does
		"public mem_":  {},
		"TEA":          {"likes tea and coffee", "likes Tea"},
		"coffee likes": {"likes tea and coffee", "likes Tea"},
		"tea tea work": {"likes tea and coffee", "likes Tea", "uses C++ (beta) at work"},
		`"tea and"`:    {"likes tea and coffee"},
		`"tea maybe"`:  {},
		`"maybe`:       {`said "maybe"`},
		"烏龍":           {"喜歡喝烏龍茶"},
		`"`:            {`said "maybe"`},
		".*":           {},
	} {
		r.want(query, r.find(false, query), want...)
	}
}

// BUG-I01, AF-145: no question is an error, whatever it is made of.
func TestOddQuestions(t *testing.T) {
	r := newRig(t)
	r.save(false, `builds with C++ -O2 "foo" NOT a:b* ( \ % _ '`, "")
	for _, query := range []string{`C++ -O2 "foo`, "NOT", "a:b*", "(", "-O2", `""`, `" "`, "--", `\`, "%", "'", "\xff", "\x00",
		strings.Repeat("word ", 5000), strings.Repeat(`"`, 999)} {
		if _, err := r.Search(t.Context(), ann, false, query, 0); err != nil {
			t.Errorf("%.20q: %v", query, err)
		}
	}
	for _, query := range []string{`C++ -O2 "foo`, "NOT", "a:b*", "(", "-O2", `\`, "%", "'", `"foo" not`} {
		if len(r.find(false, query)) != 1 {
			t.Errorf("%q finds nothing", query)
		}
	}
	for _, blank := range []string{"", " \t\n"} {
		if _, err := r.Search(t.Context(), ann, false, blank, 0); err == nil {
			t.Errorf("%q is taken for a question", blank)
		}
	}
}

// AF-147
func TestDisabledHitsDoNotCount(t *testing.T) {
	r := newRig(t)
	for n := range 15 {
		m := r.save(false, fmt.Sprint("tea ", n), "")
		if n >= 3 {
			r.change(false, m.ID, Changes{Enabled: ptr(false)})
		}
	}
	r.want("found", r.texts(r.Search(t.Context(), ann, false, "tea", 10)), "tea 2", "tea 1", "tea 0")
}

func TestLimits(t *testing.T) {
	r := newRig(t)
	r.cfg.Load().MaxChars = 100_000
	for n := range 120 {
		r.save(false, fmt.Sprint("tea ", n), "")
	}
	for limit, want := range map[int]int{0: 10, 1: 1, 50: 50, 100: 100, 1000: 100, -1: 10} {
		if got, err := r.Search(t.Context(), ann, false, "tea", limit); err != nil || len(got) != want {
			t.Errorf("limit %d: %d hits, %v; want %d", limit, len(got), err, want)
		}
	}
}

func TestALongMemoryDoesNotStarveOthers(t *testing.T) {
	r := newRig(t)
	r.save(false, "old tea", "")
	r.save(false, "green tea "+strings.Repeat("茶", 3000), "")
	r.want("beside others", r.find(false, "green tea"), "old tea")
	only := r.find(false, "green")
	if len(only) != 1 || utf8.RuneCountInString(only[0]) != 2000 || !strings.HasSuffix(only[0], "茶…") {
		t.Errorf("alone: %d hits", len(only))
	}
}

func FuzzKeywords(f *testing.F) {
	for _, seed := range []string{"C++ (beta", "-x", `"`, "", `"a b" c`, `a"b`, "\xff \"", `"" ""`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		words := keywords(query)
		if (len(words) == 0) != (strings.TrimSpace(strings.ToValidUTF8(query, "\ufffd")) == "") {
			t.Fatalf("%q: %q", query, words)
		}
		if len(words) > maxKeywords || slices.Contains(words, "") {
			t.Fatalf("%q: %q", query, words)
		}
		folded := strings.ToLower(strings.ToValidUTF8(query, "\ufffd"))
		for _, word := range words {
			if !strings.Contains(folded, word) {
				t.Fatalf("%q is not in %q", word, query)
			}
		}
	})
}

// Whatever lies in a file, reading it is no error, and a memory saved afterwards is found.
func FuzzAnyFile(f *testing.F) {
	for _, seed := range []string{
		memoryLine("mem_a", "2025-01-01T00:00:00Z", "public", "high", "x"),
		`{"type":"patch","target_id":"mem_a","ts":"2025-01-01T00:00:00Z","changes":null}`,
		`{"type":"patch","targetId":"mem_a","ts":"2025-01-01T00:00:00Z","enabled":null,"relatedTo":[1]}`,
		"\x00\x00{", `{"type":"memory","id":1}`, `{"type":"memory","relatedTo":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newRig(t)
		r.write(publicFile, string(data))
		r.important(true)
		m := r.save(false, "the needle of this haystack", High)
		found, err := r.Search(t.Context(), ann, false, `"the needle of this haystack"`, 100)
		if err != nil || !slices.ContainsFunc(found, func(f Memory) bool { return f.ID == m.ID }) {
			t.Fatalf("found %v, %v", found, err)
		}
	})
}

// Other bounds count from the next search on.
func TestReload(t *testing.T) {
	r := newRig(t)
	for n := range 4 {
		r.save(false, fmt.Sprint("tea ", n), "")
	}
	cfg := Defaults()
	cfg.SearchLimit = 2
	r.Store.Reload(cfg)
	if got := len(r.find(false, "tea")); got != 2 {
		t.Errorf("%d hits, want 2", got)
	}
}
