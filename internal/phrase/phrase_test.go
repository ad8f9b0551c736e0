package phrase

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func book(t *testing.T, language string) Book {
	t.Helper()
	b, err := In(language)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var placeholderForm = regexp.MustCompile(`\{([a-z]+)\}`)

func TestEveryLanguageHasEveryPhrase(t *testing.T) {
	for _, language := range Languages() {
		texts := book(t, language).texts
		for key, want := range keys {
			var got []string
			for _, m := range placeholderForm.FindAllStringSubmatch(texts[key], -1) {
				got = append(got, m[1])
			}
			if strings.TrimSpace(texts[key]) == "" || strings.Contains(texts[key], "\n") || !slices.Equal(got, want) {
				t.Errorf("%s: %s is %q, its placeholders are %q", language, key, texts[key], want)
			}
		}
		for key := range texts {
			if _, known := keys[key]; !known {
				t.Errorf("%s: nobody says %s", language, key)
			}
		}
	}
}

func TestSay(t *testing.T) {
	en, tw := book(t, "en"), book(t, "zh-TW")
	for got, want := range map[string]string{
		en.Say(InLine, 2):              "Got it. Ahead of this one: 2.",
		tw.Say(InLine, 2):              "收到，前面還有 2 則。",
		en.Say(OwnerOnly, "{command}"): "`{command}` is for the owner only.",
		en.Say(Stopped, "too much"):    "Stopped.",
		en.Say(Key("no such key")):     "no such key",
		Book{}.Say(Sorry):              "sorry",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The apology is one fixed text, free of detail.
func TestSorryIsFixed(t *testing.T) {
	for _, language := range Languages() {
		b := book(t, language)
		if got := b.Say(Sorry, "open session: exec: not found"); got != b.texts[Sorry] || strings.ContainsAny(got, "{}") {
			t.Errorf("%s: %q", language, got)
		}
	}
}

func TestUnknownLanguage(t *testing.T) {
	for _, language := range []string{"", "fr", "../en", "EN"} {
		if _, err := In(language); err == nil || !strings.Contains(err.Error(), "zh-TW") {
			t.Errorf("%q: %v", language, err)
		}
	}
}
