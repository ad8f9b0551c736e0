package logging

import (
	"log/slog"
	"regexp"
	"strings"
)

// placeOrBrace is a place to fill, or two braces that stand for one.
var placeOrBrace = regexp.MustCompile(`\{\{|\}\}|\{[A-Za-z_][A-Za-z0-9_.]*\}`)

// render fills the places of a message with the attributes of their names, and reports whether it has any. A
// place of an unknown name stays; {{ and }} become braces.
func render(message string, attrs []slog.Attr) (text string, hasPlaces bool) {
	if !strings.ContainsAny(message, "{}") {
		return message, false
	}
	text = placeOrBrace.ReplaceAllStringFunc(message, func(found string) string {
		switch found {
		case "{{":
			return "{"
		case "}}":
			return "}"
		}
		hasPlaces = true
		for _, a := range attrs {
			if a.Key == found[1:len(found)-1] {
				return plain(a.Value)
			}
		}
		return found
	})
	return text, hasPlaces
}

// plain writes a value into a message: nothing for nil, JSON for what is not one word or number.
func plain(v slog.Value) string {
	switch v.Kind() {
	case slog.KindAny:
		if v.Any() == nil {
			return ""
		}
	case slog.KindGroup:
		return string(appendGroup(nil, v.Group()))
	}
	return v.String()
}
