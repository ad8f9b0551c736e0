package gate

import "familiar/internal/chat"

// Trust says how far the author of an event is trusted: Owner for an account of an owner, Known for a person whom
// an account entry lists or an owner admitted, Public for anybody else. What a surface noticed in the outside world is
// Foreign, whoever it is laid before. An entry "*" makes nobody known.
func (g *Gate) Trust(ev chat.Event) chat.Trust {
	if _, noticed := ev.Body.(chat.Noticed); noticed {
		return chat.Foreign
	}
	r := g.rules.Load()
	if r.owns(ev.From) {
		return chat.Owner
	}
	if r.admitted(ev.From) {
		return chat.Known
	}
	for _, e := range r.entries {
		if e.kind == account && e.matches(ev) {
			return chat.Known
		}
	}
	return chat.Public
}

// Yolo reports whether the first entry that matches the event asks for no permission questions, and which kind of
// entry decided: account_config, channel_config or none, as the audit names it.
func (g *Gate) Yolo(ev chat.Event) (bool, string) {
	for _, e := range g.rules.Load().entries {
		if !e.matches(ev) {
			continue
		}
		if e.kind == account {
			return e.yolo, "account_config"
		}
		return e.yolo, "channel_config"
	}
	return false, "none"
}
