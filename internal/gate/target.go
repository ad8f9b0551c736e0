package gate

import (
	"fmt"

	"familiar/internal/chat"
)

// Target understands the id of one account or one channel, in the form of an entry, and returns what tells whether an
// event is from there.
func Target(id string) (func(chat.Event) bool, error) {
	e, err := parseEntry(Entry{ID: id})
	if err != nil {
		return nil, err
	}
	if e.kind != account && e.kind != channel {
		return nil, fmt.Errorf("%q is no account and no channel", id)
	}
	return e.matches, nil
}
