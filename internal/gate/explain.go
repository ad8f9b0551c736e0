package gate

import (
	"fmt"
	"time"

	"familiar/internal/chat"
)

// Opinion is what one rule says about an event, for whoever wants to know why.
type Opinion struct {
	Rule    string
	Late    bool // it is asked after the event was stored
	Final   bool // no later rule of its kind is asked
	Verdict Verdict
}

// Explain asks the rules as Early and then Judge do, and returns what each said, up to the one that decided, and the
// verdict. It counts nothing: of a rate it says how it is configured, and takes the request to be within it.
func (g *Gate) Explain(ev chat.Event) ([]Opinion, Verdict) {
	r := g.rules.Load()
	said, v := r.explain(ev, early(), false)
	if v.Decided {
		return said, v
	}
	rest, judged := r.explain(ev, late(), true)
	if judged.Decided {
		v = judged
	}
	return append(said, rest...), v
}

func (r *rules) explain(ev chat.Event, all []named, late bool) (said []Opinion, v Verdict) {
	for _, one := range all {
		ask := one.rule
		if one.name == "rate" {
			ask = configured
		}
		o := ask(r, ev)
		if o.verdict.Rule == "" {
			o.verdict.Rule = one.name
		}
		said = append(said, Opinion{Rule: one.name, Late: late, Final: o.final, Verdict: o.verdict})
		if o.final {
			return said, o.verdict
		}
	}
	return said, Verdict{}
}

// configured is what the rule of rates says without counting.
func configured(r *rules, ev chat.Event) opinion {
	limited, why := r.limits(ev)
	if !limited && why != "" {
		return letIn("rate", why)
	}
	if limited {
		why = r.limiter.terms()
	}
	return opinion{verdict: Verdict{Rule: "rate", Why: why}}
}

// terms says the limit in words.
func (l *Limiter) terms() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("at most %d requests in %s; one more is refused, and all for %s", l.most, short(l.window), short(l.cooldown))
}

// short writes a time without the zeros that a Duration ends with.
func short(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%g s", d.Seconds())
}
