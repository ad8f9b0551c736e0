package api

import (
	"encoding/json"
	"regexp"
)

var id = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// IsID reports whether a text is what an instance names its objects with: 1 to 64 letters, digits, - and _.
func IsID(text string) bool { return id.MatchString(text) }

// Lenient is a value that may be left out, null, or of another shape than it should be; then it is zero. What an event
// cannot be without is not lenient.
type Lenient[T any] struct{ V T }

// UnmarshalJSON never fails.
func (l *Lenient[T]) UnmarshalJSON(data []byte) error {
	var v T
	if json.Unmarshal(data, &v) == nil {
		l.V = v
	}
	return nil
}
