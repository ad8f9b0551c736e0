// Package explanation says why an event would be heard or not, and what would come of it: the event as an operator
// writes it down, and the answer in words or as JSON. It decides nothing; whoever knows the rules fills it in.
package explanation

import (
	"fmt"
	"io"
	"strings"

	"familiar/internal/chat"
)

// Explanation is the answer about one event.
type Explanation struct {
	Event   About  `json:"event"`
	Rules   []Rule `json:"rules"` // as they were asked, up to the one that decided
	Outcome string `json:"outcome"`
	Rule    string `json:"rule"` // which of them decided, or let it pass
	Why     string `json:"why"`
	Then    *Then  `json:"then,omitempty"` // nil when it is not heard
}

// About is which event is meant, without what it says.
type About struct {
	Kind      chat.BodyKind  `json:"kind"`
	Platform  string         `json:"platform"`
	ChannelID string         `json:"channel_id"`
	PlaceKind chat.PlaceKind `json:"place_kind"`
	UserID    string         `json:"user_id"`
	Addressed bool           `json:"addressed"`
	Length    int            `json:"length"` // of its words, in characters
}

// Rule is what one rule of the gate says.
type Rule struct {
	Rule    string  `json:"rule"`
	When    Stage   `json:"when"`
	Opinion Opinion `json:"opinion"`
	Why     string  `json:"why,omitempty"`
}

// Stage says when a rule is asked.
type Stage string

// The stages.
const (
	Early Stage = "early" // before anything is stored
	Late  Stage = "late"  // once for each stored event
)

// Opinion is what a rule thinks.
type Opinion string

// The opinions.
const (
	None     Opinion = "none"
	Passes   Opinion = "passes"
	TurnAway Opinion = "turns away"
)

// Then is what would come of an event that is heard.
type Then struct {
	Trust       string           `json:"trust"`
	Room        chat.RoomKey     `json:"room"`
	Command     string           `json:"command,omitempty"` // it runs at once, and no agent is asked
	SessionType chat.SessionType `json:"sessionType,omitempty"`
	Model       string           `json:"model,omitempty"` // "" leaves the agent's own choice
	ModelWhy    string           `json:"modelWhy,omitempty"`
	Yolo        bool             `json:"yolo"`
	YoloSource  string           `json:"yoloSource"`
}

// Of says which event is explained.
func Of(ev chat.Event) About {
	return About{Kind: ev.Body.Kind(), Platform: ev.Place.Platform, ChannelID: ev.Place.ID, PlaceKind: ev.Place.Kind,
		UserID: ev.From.ID, Addressed: ev.Addressed, Length: len([]rune(ev.Text()))}
}

// Write writes the explanation in words.
func (e Explanation) Write(w io.Writer) error {
	var b strings.Builder
	a := e.Event
	addressed := "addressed to us"
	if !a.Addressed {
		addressed = "not addressed to us"
	}
	fmt.Fprintf(&b, "event    %s by %s/%s in %s (%s), %s, %d characters\n", a.Kind, a.Platform, a.UserID, a.ChannelID, a.PlaceKind, addressed, a.Length)
	stage := Stage("")
	for _, r := range e.Rules {
		if r.When != stage {
			stage = r.When
			fmt.Fprintf(&b, "rules    %s\n", stages[stage])
		}
		line := fmt.Sprintf("  %-10s %s", r.Rule, opinions[r.Opinion])
		if r.Why != "" {
			line += ": " + r.Why
		}
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintf(&b, "outcome  %s", e.Outcome)
	if e.Rule != "" {
		fmt.Fprintf(&b, ", by the rule %s: %s", e.Rule, e.Why)
	}
	fmt.Fprintln(&b)
	if e.Then != nil {
		e.Then.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var (
	stages   = map[Stage]string{Early: "before it is stored", Late: "once it is stored"}
	opinions = map[Opinion]string{None: "no opinion", Passes: "lets it pass", TurnAway: "turns it away"}
)

func (t Then) write(b *strings.Builder) {
	fmt.Fprintf(b, "then     trust     %s\n", t.Trust)
	fmt.Fprintf(b, "         room      %s, the queue of this person in this place\n", t.Room)
	if t.Command != "" {
		fmt.Fprintf(b, "         command   %s runs at once; no agent is asked\n", t.Command)
		return
	}
	if t.SessionType == "" {
		fmt.Fprintln(b, "         session   none: it is no message")
		return
	}
	model := t.Model
	if model == "" {
		model = "none named"
	}
	fmt.Fprintf(b, "         session   %s\n", t.SessionType)
	fmt.Fprintf(b, "         model     %s (%s)\n", model, t.ModelWhy)
	if t.Yolo {
		fmt.Fprintf(b, "         agent     may do everything unasked (%s)\n", t.YoloSource)
	} else {
		fmt.Fprintf(b, "         agent     has to ask for permission\n")
	}
}
