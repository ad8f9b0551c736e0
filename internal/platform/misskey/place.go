package misskey

import (
	"fmt"
	"strings"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey/api"
)

// placeKind is what stands before the colon of a place's id.
type placeKind string

const (
	notePlace placeKind = "note"     // a thread that others can read
	dmPlace   placeKind = "dm"       // notes between one person and us
	chatPlace placeKind = "chat"     // the chat with one person
	timeline  placeKind = "timeline" // our own timeline
)

const ownTimeline = "timeline:self"

// specified is the visibility of a note that only those see whom it names.
const specified = "specified"

// parsePlace takes the id of a place apart; the kind is "" when it is none of ours.
func parsePlace(id string) (kind placeKind, ref string) {
	word, ref, ok := strings.Cut(id, ":")
	switch kind = placeKind(word); {
	case id == ownTimeline:
		return timeline, ref
	case ok && api.IsID(ref) && (kind == notePlace || kind == dmPlace || kind == chatPlace):
		return kind, ref
	}
	return "", ""
}

// here checks that a place is one of ours.
func here(p chat.Place) (kind placeKind, ref string, err error) {
	if p.Platform == Name {
		kind, ref = parsePlace(p.ID)
	}
	if kind == "" {
		return "", "", fmt.Errorf("%s %q is no place of Misskey", p.Platform, p.ID)
	}
	return kind, ref, nil
}

func directPlace(kind placeKind, person string) chat.Place {
	return chat.Place{Platform: Name, ID: string(kind) + ":" + person, Kind: chat.Direct}
}

// placeOf is where a note of somebody is said.
func placeOf(n note) chat.Place {
	switch n.Visibility {
	case "public", "home":
		return chat.Place{Platform: Name, ID: string(notePlace) + ":" + n.ID, Kind: chat.Broadcast}
	case specified:
		return directPlace(dmPlace, n.UserID)
	}
	return chat.Place{Platform: Name, ID: string(notePlace) + ":" + n.ID, Kind: chat.Group}
}
