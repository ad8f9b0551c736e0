package gate

import "familiar/internal/chat"

// owner lets the owner in whatever the policy and the limits say.
func owner(r *rules, ev chat.Event) opinion {
	if r.owns(ev.From) {
		return letIn("owner", "the author is an owner of this bot")
	}
	return opinion{}
}

func (r *rules) owns(p chat.Person) bool {
	for _, o := range r.owners {
		if o.Same(p) {
			return true
		}
	}
	return false
}
