package gate

import "familiar/internal/chat"

// owner lets the owner in whatever the policy and the limits say.
func owner(g *Gate, ev chat.Event) opinion {
	if g.owns(ev.From) {
		return letIn("owner", "the author is an owner of this bot")
	}
	return opinion{}
}

func (g *Gate) owns(p chat.Person) bool {
	for _, o := range g.owners {
		if o.Same(p) {
			return true
		}
	}
	return false
}
