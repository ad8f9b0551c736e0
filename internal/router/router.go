// Package router chooses the model that a session is thought with. Rules are asked in order and the first that
// matches counts; without one it is the model of the feature that opens the session, and else that of the agent.
// It decides and nothing else: whoever opens the session sets the model.
package router

import (
	"fmt"
	"strings"

	"familiar/internal/chat"
)

// Router holds the rules of one configuration. It never changes, so it is safe for concurrent use.
type Router struct {
	rules []compiled
	model string // of the agent
}

// compiled is a rule that can be asked.
type compiled struct {
	model string
	kind  chat.SessionType      // "": any
	from  func(chat.Event) bool // nil: anybody, anywhere
	words []string              // in small letters; empty: whatever is said
}

// Session is what a model is chosen for. Section is the model of the feature that opens it, "" where that has none.
type Session struct {
	Type    chat.SessionType
	Cause   chat.Event // its place and its person are matched; its words only for messages
	Section string
}

// Choice is the model that was chosen, and why. An empty Model leaves the agent's own choice.
type Choice struct {
	Model string
	Rule  int // the number of the rule that matched, from 1; 0: none
	Why   string
}

// New makes a router of a checked configuration. model is that of the agent. Rules that Check would drop are left
// out here too.
func New(c Config, model string, form Form) *Router {
	r := &Router{model: model}
	if !c.Enabled {
		return r
	}
	for _, rule := range c.Rules {
		if one, err := compile(rule, form); err == nil {
			r.rules = append(r.rules, one)
		}
	}
	return r
}

// Choose returns the model of a session. Pure.
func (r *Router) Choose(s Session) Choice {
	for i, rule := range r.rules {
		if rule.matches(s) {
			return Choice{rule.model, i + 1, fmt.Sprintf("rule %d of agent.modelRouting", i+1)}
		}
	}
	switch {
	case s.Section != "":
		return Choice{Model: s.Section, Why: "the model of the feature"}
	case r.model != "":
		return Choice{Model: r.model, Why: "agent.model"}
	}
	return Choice{Why: "the agent's own choice"}
}

func (c compiled) matches(s Session) bool {
	if c.kind != "" && c.kind != s.Type || c.from != nil && !c.from(s.Cause) {
		return false
	}
	return len(c.words) == 0 || s.Type == chat.MessageSession && says(s.Cause.Text(), c.words)
}

// says reports whether one of the words stands somewhere in the text.
func says(text string, words []string) bool {
	text = strings.ToLower(text)
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
