// Package gate decides who is heard: one rule, one file, and the first rule with an opinion wins. It decides and
// nothing else: it stores no text, speaks to nobody and does no I/O. Early costs nothing and keeps no state; it
// runs before an event is stored. Judge has state (the rate limiter) and runs once for each stored event.
//
// Deny is the default: an empty list hears nobody but the owner, and a place of unknown kind counts as private.
package gate

import (
	"sync/atomic"
	"time"

	"familiar/internal/chat"
)

// Verdict is what a rule says about an event. When Decided is set, the event ends here and Outcome says how; when
// it is not, the event goes on, and Rule and Why name what let it pass. Why holds ids, never what somebody said.
type Verdict struct {
	Decided bool
	Outcome chat.Outcome
	Rule    string
	Why     string
	// Stranger is set where nothing but the policy turned the author away, in private: an owner could admit them.
	Stranger bool
}

// Gate holds the rules of one bot. Safe for concurrent use.
type Gate struct {
	rules    atomic.Pointer[rules]
	limiter  *Limiter // counts on when the rules change
	admitted func(chat.Person) bool
}

// rules are what one configuration says. They never change; Reload puts others in their place.
type rules struct {
	policy   Policy
	entries  []entry
	owners   []chat.Person
	limiter  *Limiter // nil when rates are not limited
	admitted func(chat.Person) bool
}

// opinion is what a single rule answers: whether it has one at all, and which.
type opinion struct {
	verdict Verdict
	final   bool // no later rule is asked
}

// rule looks at an event; the zero opinion means that it has none.
type rule func(r *rules, ev chat.Event) opinion

// New builds the gate of a bot from a checked configuration. Entries that Check would drop are left out here too.
// An owner without an id is nobody. admitted says whom an owner admitted; it is asked for each event and must not
// block. nil: nobody.
func New(c Config, owners []chat.Person, admitted func(chat.Person) bool) *Gate {
	if admitted == nil {
		admitted = func(chat.Person) bool { return false }
	}
	g := &Gate{limiter: NewLimiter(0, 0, 0), admitted: admitted}
	g.Reload(c, owners)
	return g
}

// Reload puts the rules of another checked configuration in place of the present ones, at once: an event is judged by
// the one or by the other. What was counted of each person's requests stays.
func (g *Gate) Reload(c Config, owners []chat.Person) {
	r := &rules{policy: c.ReplyPolicy, admitted: g.admitted}
	for _, raw := range c.Channels {
		if e, err := parseEntry(raw); err == nil && !bool(raw.Disabled) {
			r.entries = append(r.entries, e)
		}
	}
	for _, owner := range owners {
		if owner.ID != "" && owner.Platform != "" {
			r.owners = append(r.owners, owner)
		}
	}
	if limit := c.RateLimit; limit.Enabled {
		g.limiter.Reload(limit.MaxRequestsPerWindow, time.Duration(limit.WindowMs)*time.Millisecond,
			time.Duration(limit.CooldownMs)*time.Millisecond)
		r.limiter = g.limiter
	}
	g.rules.Store(r)
}

// Early runs the rules that keep no state, in this order. It must be asked before anything of the event is stored.
func (g *Gate) Early(ev chat.Event) Verdict {
	return g.ask(ev, early())
}

// Judge runs the rules with state; ask it once for each event, after repeats were turned away.
func (g *Gate) Judge(ev chat.Event) Verdict {
	return g.ask(ev, late())
}

// named is a rule and its word, which is that of its verdicts.
type named struct {
	name string
	rule rule
}

// early are the rules that keep no state, in the order in which they are asked.
func early() []named {
	return []named{{"source", ownSource}, {"self", self}, {"bot", bot}, {"addressed", addressed}, {"owner", owner},
		{"admitted", admitted}, {"policy", policy}}
}

// late are the rules with state, and those that let somebody pass them.
func late() []named {
	return []named{{"source", ownSource}, {"owner", owner}, {"rate", rate}}
}

func (g *Gate) ask(ev chat.Event, all []named) Verdict {
	r := g.rules.Load()
	for _, one := range all {
		if o := one.rule(r, ev); o.final {
			return o.verdict
		}
	}
	return Verdict{}
}

// turnAway ends the event; letIn ends the questions and lets the event go on.
func turnAway(rule string, outcome chat.Outcome, why string) opinion {
	return opinion{Verdict{Decided: true, Outcome: outcome, Rule: rule, Why: why}, true}
}

func letIn(rule, why string) opinion {
	return opinion{Verdict{Rule: rule, Why: why}, true}
}
