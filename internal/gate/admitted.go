package gate

import "familiar/internal/chat"

// admitted lets in, in private, a person whom an owner admitted. In company the policy decides as for anybody: whoever
// may talk to us alone was not asked into every group, and the groups were not asked either.
func admitted(r *rules, ev chat.Event) opinion {
	if ev.Place.Private() && r.admitted(ev.From) {
		return letIn("admitted", "an owner admitted the author")
	}
	return opinion{}
}

// stranger reports whether somebody whom the policy turns away could be let in by an owner: a person who speaks to us
// in private.
func stranger(ev chat.Event) bool {
	_, said := ev.Body.(chat.Said)
	return said && ev.Place.Private() && ev.From.ID != "" && ev.From.Platform != ""
}
