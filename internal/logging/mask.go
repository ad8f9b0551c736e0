package logging

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/redact"
	"familiar/internal/secret"
)

// masker takes out of a line what must not be in it.
type masker struct{ vault *secret.Vault }

// Mask returns text as it may lie in a log: without any secret that the vault knows, or that its form gives away. A
// nil vault knows none.
func Mask(text string, vault *secret.Vault) string { return masker{vault}.text(text) }

// maxText is the longest text in a line, in bytes; the rest is cut off. A stack fits.
const maxText = 32 << 10

var (
	bearer = regexp.MustCompile(`(?i)\b(bearer)\s+[A-Za-z0-9._~+/=-]+`)
	// assigned is a name of a secret with its value: token=…, "api_key": "…", Authorization: Basic …
	assigned = regexp.MustCompile(`(?i)((?:token|api[-_ ]?key|secret|password|passwd|auth(?:orization)?)["']?\s*[=:]\s*)` +
		`(?:"[^"]*"|'[^']*'|(?:(?:basic|digest|token)\s+)?[^\s"',;&]+)`)
	// queried is a key among the parameters of an address.
	queried = regexp.MustCompile(`(?i)([?&;](?:[a-z]+[-_])?key=)[^\s&"'#]+`)
	// login is the name and password in an address.
	login = regexp.MustCompile(`(://)[^/\s:@]*:[^/\s@]+@`)
	// issued is a key in a form by which its issuer makes it known: of model providers, GitHub, GitLab, Slack, Google.
	issued = regexp.MustCompile(`\b(?:sk|pk|rk|glpat|xox[a-z]|xapp)-[A-Za-z0-9_-]{16,}|\b(?:gh[a-z]|github_pat)_[A-Za-z0-9_]{20,}|\bAIza[A-Za-z0-9_-]{30,}`)
	// long is what a key or a digest looks like.
	long = regexp.MustCompile(`[A-Za-z0-9+/]{40,}={0,2}`)
)

// text masks secrets inside a text.
func (m masker) text(text string) string {
	text = m.vault.Mask(text)
	if len(text) >= 6 { // the shortest that the patterns could find something in: auth=x
		text = bearer.ReplaceAllString(text, "${1} "+secret.Masked)
		if strings.ContainsAny(text, "=:") {
			text = assigned.ReplaceAllString(text, "${1}"+secret.Masked)
			text = queried.ReplaceAllString(text, "${1}"+secret.Masked)
			text = login.ReplaceAllString(text, "${1}"+secret.Masked+"@")
		}
		if len(text) >= 19 { // the shortest of issued
			text = issued.ReplaceAllString(text, secret.Masked)
		}
		if len(text) >= 40 {
			text = long.ReplaceAllStringFunc(text, maskLong)
		}
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// maskLong masks a long run of letters and digits, unless it is a path: one with short steps.
func maskLong(run string) string {
	if strings.Count(run, "/")*16 > len(run) {
		return run
	}
	return secret.Masked
}

// attrs masks attributes, at any depth. Values are resolved, empty groups dropped, groups without a name opened;
// of two attributes of one name the later counts.
func (m masker) attrs(attrs []slog.Attr) []slog.Attr {
	var masked []slog.Attr
	for _, a := range attrs {
		a.Value = a.Value.Resolve()
		if a.Value.Kind() == slog.KindGroup && a.Key == "" {
			masked = append(masked, m.attrs(a.Value.Group())...)
			continue
		}
		if a.Equal(slog.Attr{}) {
			continue
		}
		if a.Value = m.value(a.Key, a.Value); a.Value.Kind() == slog.KindGroup && len(a.Value.Group()) == 0 {
			continue
		}
		masked = append(masked, a)
	}
	var unique []slog.Attr
	for i, a := range masked {
		later := func(b slog.Attr) bool { return b.Key == a.Key }
		if !slices.ContainsFunc(masked[i+1:], later) {
			unique = append(unique, a)
		}
	}
	return unique
}

func (m masker) value(key string, v slog.Value) slog.Value {
	if hidden := hide(key); hidden != nil {
		if v.Kind() == slog.KindString && v.String() == "" {
			return v // that there is none may be told
		}
		text, err := json.Marshal(v.String())
		if err != nil {
			return slog.StringValue(secret.Masked)
		}
		return slog.StringValue(hidden(text))
	}
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(m.text(v.String()))
	case slog.KindGroup:
		return slog.GroupValue(m.attrs(v.Group())...)
	case slog.KindAny:
		return m.opaque(v)
	}
	return v
}

// rawJSON is a value that was encoded and masked.
type rawJSON string

func (r rawJSON) String() string { return string(r) }

// opaque masks a value of any type: errors and what can name itself as text, everything else as JSON.
func (m masker) opaque(v slog.Value) (masked slog.Value) {
	defer func() {
		if r := recover(); r != nil { // a method of the value: a nil pointer, mostly
			masked = slog.StringValue(fmt.Sprintf("a value that panics: %T", v.Any()))
		}
	}()
	switch value := v.Any().(type) {
	case nil:
		return v
	case error:
		return slog.StringValue(m.text(value.Error()))
	case json.Marshaler:
	case fmt.Stringer:
		return slog.StringValue(m.text(value.String()))
	}
	data, err := json.Marshal(v.Any())
	if err != nil {
		return slog.StringValue(m.text(fmt.Sprintf("%+v", v.Any())))
	}
	data, err = redact.Rules{Field: hide, Text: m.text}.JSON(data)
	if err != nil {
		return slog.StringValue(secret.Masked)
	}
	var text string
	if data[0] == '"' && json.Unmarshal(data, &text) == nil { // a named string type, such as our ids
		return slog.StringValue(text)
	}
	return slog.AnyValue(rawJSON(data))
}

// hide says what stands in place of the value of a name: of a secret, or of what people say; nil for any other.
func hide(name string) func(value json.RawMessage) string {
	switch {
	case isSecret(name):
		return func(json.RawMessage) string { return secret.Masked }
	case isContent(name):
		return contentLength
	}
	return nil
}

// isContent reports whether a name is one under which people's words travel.
func isContent(name string) bool {
	switch strings.ToLower(name) {
	case "content", "prompt", "text", "message", "query", "replycontent", "caption", "body":
		return true
	}
	return false
}

// contentLength says how long some words are instead of saying them.
func contentLength(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return "[left out]"
	}
	return fmt.Sprintf("[%d characters]", utf8.RuneCountInString(text))
}

// isSecret reports whether a name is that of a secret: one of its words says so. A "key" is a secret only alone
// or of the kinds that open something: workspaceKey is none.
func isSecret(name string) bool {
	words := splitWords(name)
	for i, word := range words {
		switch word {
		case "token", "password", "secret", "auth", "apikey", "authorization", "passwd", "passphrase", "credentials":
			return true
		case "key":
			if len(words) == 1 || i > 0 && slices.Contains(openingKeys, words[i-1]) {
				return true
			}
		}
	}
	return false
}

var openingKeys = []string{"api", "access", "private", "signing", "encryption", "master", "app", "account"}

// splitWords splits a name at what is neither letter nor digit, and where a capital begins a word: apiKey,
// API_KEY, and X-APIKey are two or three words.
func splitWords(name string) []string {
	var words []string
	var word []rune
	runes := []rune(name)
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		upper := unicode.IsUpper(r)
		afterLower := i > 0 && unicode.IsLower(runes[i-1])
		beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if upper && (afterLower || beforeLower && i > 0) {
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}
