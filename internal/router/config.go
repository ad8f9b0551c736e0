package router

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"familiar/internal/chat"
	"familiar/internal/setting"
)

// Config is the section agent.modelRouting.
type Config struct {
	Enabled bool   `yaml:"enabled" env:"MODEL_ROUTING_ENABLED" doc:"choose the model of each session by the rules below"`
	Rules   []Rule `yaml:"rules" env:"MODEL_ROUTING_RULES" doc:"asked in order; the first that matches names the model"`
}

// Rule gives a model to the sessions that match.
type Rule struct {
	Match Match  `yaml:"match"`
	Model string `yaml:"model" doc:"the model, as the agent names it"`
}

// Match is what has to be so for a rule to count; everything that is given, and at least one thing.
type Match struct {
	Channel         string   `yaml:"channel" doc:"who or where, as platform/account/ID or platform/channel/ID"`
	SessionType     string   `yaml:"sessionType" doc:"message, spontaneous, self-research, memory-maintenance, reminder or channelLurk"`
	ContentKeywords Keywords `yaml:"contentKeywords" doc:"one of these stands in the message, in capitals or not; for sessions of the type message alone"`
}

// Keywords is a list of words. Anything else than a list makes its rule invalid, and nothing more: one bad rule must
// not keep a bot from starting.
type Keywords []string

// notAList is what Keywords hold where something else stood; no file can say it.
const notAList = "\x00"

// UnmarshalJSON never fails; Check tells what is wrong.
func (k *Keywords) UnmarshalJSON(data []byte) error {
	var words []string
	if json.Unmarshal(data, &words) != nil {
		words = []string{notAList}
	}
	*k = words
	return nil
}

// Form understands an account or a channel as it is written in rules, and returns what tells whether an event is
// from there.
type Form func(id string) (func(chat.Event) bool, error)

// Defaults returns the section as it is when nothing is said: no routing.
func Defaults() Config { return Config{} }

// Check drops the rules that cannot count, each with a warning.
func (c *Config) Check(r *setting.Report, form Form) {
	var kept []Rule
	for i, rule := range c.Rules {
		if _, err := compile(rule, form); err != nil {
			r.Warn(fmt.Sprintf("rules[%d]", i), "%v; the rule is left out", err)
			continue
		}
		kept = append(kept, rule)
	}
	c.Rules = kept
}

// compile makes a rule that can be asked, or says why it never counts.
func compile(rule Rule, form Form) (compiled, error) {
	m := rule.Match
	out := compiled{model: strings.TrimSpace(rule.Model), kind: chat.SessionType(m.SessionType)}
	switch {
	case out.model == "":
		return out, fmt.Errorf("the model is blank")
	case m.Channel == "" && m.SessionType == "" && len(m.ContentKeywords) == 0:
		return out, fmt.Errorf("match is empty, and matches nothing; give channel, sessionType or contentKeywords")
	case m.SessionType != "" && !slices.Contains(chat.SessionTypes(), out.kind):
		return out, fmt.Errorf("%q is no type of session; there are %s", m.SessionType, types())
	case slices.Contains(m.ContentKeywords, notAList):
		return out, fmt.Errorf("contentKeywords is not a list of words")
	}
	for _, word := range m.ContentKeywords {
		if strings.TrimSpace(word) == "" {
			return out, fmt.Errorf("contentKeywords holds a blank word, which stands in every message")
		}
		out.words = append(out.words, strings.ToLower(word))
	}
	if m.Channel == "" {
		return out, nil
	}
	var err error
	if out.from, err = form(m.Channel); err != nil {
		return out, fmt.Errorf("channel: %w", err)
	}
	return out, nil
}

func types() string {
	var words []string
	for _, kind := range chat.SessionTypes() {
		words = append(words, string(kind))
	}
	return strings.Join(words, ", ")
}
