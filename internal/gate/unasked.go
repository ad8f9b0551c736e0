package gate

import "familiar/internal/chat"

// Unasked lists where the entries of a platform let us post unasked: the people to whom we may write alone, and the
// places.
func (g *Gate) Unasked(platform string) (people []chat.Person, places []chat.Place) {
	for _, e := range g.rules.Load().entries {
		if !e.posts || e.platform != platform {
			continue
		}
		if e.kind == account {
			people = append(people, chat.Person{Platform: platform, ID: e.of})
			continue
		}
		places = append(places, e.place())
	}
	return people, places
}

// Lurking lists the channels of a platform in which the entries let us read along.
func (g *Gate) Lurking(platform string) (places []chat.Place) {
	for _, e := range g.rules.Load().entries {
		if e.lurks && e.platform == platform && e.kind == channel {
			places = append(places, e.place())
		}
	}
	return places
}

// place is the place that an entry of a channel or a timeline is about. Who can read there is not known from its id, so
// it counts as a group.
func (e entry) place() chat.Place {
	if e.kind == timeline {
		return chat.Place{Platform: e.platform, ID: "timeline:" + e.of, Kind: chat.Self}
	}
	return chat.Place{Platform: e.platform, ID: e.of, Kind: chat.Group}
}
