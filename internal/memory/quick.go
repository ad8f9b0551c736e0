package memory

import (
	"strings"
	"unicode/utf8"
)

// quick reads a memory line of the plain shape that nearly all lines have: a flat object of known names whose
// strings need no unescaping. It is not ok for any other line, which then goes the way of encoding/json; where
// it is ok, it says the same. A person who is met again after a restart has thousands of lines, and is waiting.
func quick(raw []byte) (l line, ok bool) {
	if !utf8.Valid(raw) {
		return line{}, false
	}
	rest, ok := strings.CutPrefix(string(raw), "{")
	for ok {
		var name string
		if name, rest, ok = plainString(rest); !ok || !strings.HasPrefix(rest, ":") {
			return line{}, false
		}
		if rest, ok = l.quickValue(name, rest[1:]); !ok {
			return line{}, false
		}
		if rest == "}" {
			return l, l.Type == "memory"
		}
		rest, ok = strings.CutPrefix(rest, ",")
	}
	return line{}, false
}

// quickValue reads the value of one name off the front of text.
func (l *line) quickValue(name, text string) (rest string, ok bool) {
	if name == "enabled" {
		if rest, ok = strings.CutPrefix(text, "true"); ok {
			l.Enabled = &yes
			return rest, true
		}
		rest, ok = strings.CutPrefix(text, "false")
		l.Enabled = &no
		return rest, ok
	}
	value, rest, ok := plainString(text)
	if !ok {
		return "", false
	}
	switch name {
	case "type":
		l.Type = value
	case "id":
		l.ID = value
	case "ts":
		l.TS = value
	case "content":
		l.Content = value
	case "standing":
		l.Standing = value
	case "visibility":
		l.Visibility = visibilities[value]
		ok = l.Visibility != nil
	case "importance":
		l.Importance = importances[value]
		ok = l.Importance != nil
	default:
		ok = false
	}
	return rest, ok
}

// What all quick lines point to; nobody writes there.
var (
	yes, no      = true, false
	visibilities = map[string]*Visibility{"public": pointer(Public), "private": pointer(Private)}
	importances  = map[string]*Importance{"high": pointer(High), "normal": pointer(Normal)}
)

func pointer[T any](v T) *T { return &v }

// plainString takes a JSON string without escapes off the front of text.
func plainString(text string) (value, rest string, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return "", "", false
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return text[1:i], text[i+1:], true
		case c == '\\', c < ' ':
			return "", "", false
		}
	}
	return "", "", false
}
