package loop

import (
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed system.md
var systemText string

//go:embed words.json
var wordsText []byte

// words are the sentences that the model is told by the loop itself.
type words struct {
	CutOff      string `json:"cutOff"`
	NoAnswer    string `json:"noAnswer"`
	NoResult    string `json:"noResult"`
	LostImage   string `json:"lostImage"`
	UnseenImage string `json:"unseenImage"`
	Squeezed    string `json:"squeezed"`
	Cut         string `json:"cut"`
	Panicked    string `json:"panicked"`
	TimedOut    string `json:"timedOut"`
	TurnEnded   string `json:"turnEnded"`
	Failed      string `json:"failed"`
	Unavailable string `json:"unavailable"`
	Denied      string `json:"denied"`
	Unknown     string `json:"unknown"`
	TooMany     string `json:"tooMany"`
	Planned     string `json:"planned"`
	BadPlan     string `json:"badPlan"`
	PlanDoc     string `json:"planDoc"`
	Repaired    string `json:"repaired"`
}

// sentences reads the words. They are part of the program, so that what is wrong with them is a programmer's error.
func sentences() words {
	var w words
	if err := json.Unmarshal(wordsText, &w); err != nil {
		panic("words.json: " + err.Error())
	}
	return w
}

// system puts the system text together.
func system(instructions string) string {
	return strings.TrimSpace(strings.TrimSpace(systemText) + "\n\n" + strings.TrimSpace(instructions))
}
