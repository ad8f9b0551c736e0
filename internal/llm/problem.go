package llm

import (
	_ "embed"
	"encoding/json"
	"strings"
	"time"
)

// Two kinds more than a caller must tell apart: both say that this question cannot be asked so.
const (
	BadImage ProblemKind = "image"   // a picture of the conversation is refused: leave pictures out, and ask again
	Rejected ProblemKind = "request" // the provider does not understand the question
)

//go:embed texts/problems.json
var problemTexts []byte

// In returns the problem in a language: en, zh-TW or zh-CN; any other gives English. Like Say it is safe to show, and
// it says the next step. A problem that was not made by this package says what it said.
func (p Problem) In(language string) string {
	var texts map[ProblemKind]map[string]string
	if json.Unmarshal(problemTexts, &texts) != nil || p.Provider == "" {
		return p.Say
	}
	text, ok := texts[p.Kind][language]
	if !ok {
		if text, ok = texts[p.Kind]["en"]; !ok {
			return p.Say
		}
	}
	wait := p.After.Round(time.Second)
	if wait <= 0 {
		wait = time.Minute
	}
	shown := strings.TrimSuffix(wait.String(), "m0s")
	if shown != wait.String() {
		shown += "m"
	}
	return strings.NewReplacer("{provider}", p.Provider, "{model}", p.Model, "{setting}", p.Setting, "{wait}", shown).Replace(text)
}

// passes reports whether the same question may be answered a little later.
func (p Problem) passes() bool { return p.Kind == Overloaded || p.Kind == Unreached || p.cut }
