// Package phrase holds the words of our own that people in a chat read: an apology, the answer to a command, a
// line of the help. Each language is one embedded file with the same keys. A Book is one language; it is a value
// that never changes, so it is safe for concurrent use. What an agent says is no phrase, and prompts are not
// either.
package phrase

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed *.json
var files embed.FS

// Languages are the languages that there is a book in, as bot.language names them; the first is the default.
func Languages() []string { return []string{"en", "zh-TW", "zh-CN"} }

// Book is the phrases of one language. Make one with In.
type Book struct{ texts map[Key]string }

// In returns the book of a language; one that is not among Languages is an error.
func In(language string) (Book, error) {
	for _, known := range Languages() {
		if known == language {
			return read(language)
		}
	}
	return Book{}, fmt.Errorf("language %q: choose one of %s", language, strings.Join(Languages(), ", "))
}

func read(language string) (Book, error) {
	data, err := files.ReadFile(language + ".json")
	if err != nil {
		return Book{}, fmt.Errorf("read phrases: %w", err)
	}
	var b Book
	if err := json.Unmarshal(data, &b.texts); err != nil {
		return Book{}, fmt.Errorf("read phrases of %s: %w", language, err)
	}
	return b, nil
}

// Say returns the phrase with args in its placeholders, in the order in which the constant of the key names
// them. A value is put in as it is; a placeholder in it stays words. A key that the book lacks is said as its
// own name, so that nobody gets an empty message.
func (b Book) Say(key Key, args ...any) string {
	phrase, ok := b.texts[key]
	if !ok {
		return string(key)
	}
	var pairs []string
	for i, placeholder := range keys[key] {
		if i < len(args) {
			pairs = append(pairs, "{"+placeholder+"}", fmt.Sprint(args[i]))
		}
	}
	return strings.NewReplacer(pairs...).Replace(phrase)
}
