package llm

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Two kinds more than a caller must tell apart: both say that this question cannot be asked so.
const (
	BadImage ProblemKind = "image"   // a picture of the conversation is refused: leave pictures out, and ask again
	Rejected ProblemKind = "request" // the provider does not understand the question
)

// unchosen is NoModel for whoever named none; it has words of its own.
const unchosen = "unchosen"

//go:embed texts/problems.json
var problemTexts []byte

// In returns the problem in a language, what is wrong and the next step: en, zh-TW or zh-CN; any other gives English.
// Like Say it is safe to show. A problem that was not made by this package says what it said.
func (p Problem) In(language string) string {
	wrong, next := p.texts(language)
	switch {
	case wrong == "":
		return p.Say
	case language == "zh-TW" || language == "zh-CN":
		return wrong + next
	}
	return wrong + " " + next
}

// texts returns what is wrong, and what can be done about it.
func (p Problem) texts(language string) (wrong, next string) {
	var all map[ProblemKind]map[string][2]string
	if p.Provider == "" || json.Unmarshal(problemTexts, &all) != nil {
		return "", ""
	}
	kind := p.Kind
	if kind == NoModel && p.Model == "" {
		kind = unchosen
	}
	text, ok := all[kind][language]
	if !ok {
		text = all[kind]["en"]
	}
	fill := strings.NewReplacer("{provider}", p.Provider, "{model}", p.Model, "{setting}", p.Setting, "{wait}", p.wait())
	return fill.Replace(text[0]), fill.Replace(text[1])
}

// wait is how long to wait, in whole seconds or minutes; a minute where the provider does not say.
func (p Problem) wait() string {
	d := p.After.Round(time.Second)
	if d <= 0 {
		d = time.Minute
	}
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// passes reports whether the same question may be answered a little later.
func (p Problem) passes() bool { return p.Kind == Overloaded || p.Kind == Unreached || p.cut }
