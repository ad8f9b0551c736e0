package gate

import "familiar/internal/chat"

// Policy says whom a companion answers, beyond what the entries list.
type Policy string

// The policies.
const (
	ReplyAll      Policy = "all"      // everybody, everywhere
	ReplyPublic   Policy = "public"   // everybody in public; in private only whom an entry lists
	ReplyChannels Policy = "channels" // only whom or where an entry lists
)

// policy applies the reply policy to the kind of place at hand. A policy that it does not know denies.
func policy(r *rules, ev chat.Event) opinion {
	switch {
	case r.policy == ReplyAll:
		return letIn("policy", "replyPolicy all")
	case r.policy == ReplyPublic && overheard(ev.Place):
		return letIn("policy", "replyPolicy public, in a public place")
	}
	if r.policy == ReplyPublic || r.policy == ReplyChannels {
		for _, e := range r.entries {
			if e.matches(ev) {
				return letIn("policy", "entry "+e.id)
			}
		}
	}
	o := turnAway("policy", chat.Refused, "replyPolicy "+string(r.policy)+", and no entry matches")
	o.verdict.Stranger = stranger(ev)
	return o
}

// overheard reports whether others can read what is said there. A kind that we do not know counts as private, the
// side on which more is refused.
func overheard(p chat.Place) bool { return p.Kind == chat.Group || p.Kind == chat.Broadcast }
