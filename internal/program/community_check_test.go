package program

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"familiar/internal/phrase"
)

// What an answer of the bot's is.
const (
	replied = iota
	reacted
	sorry
	notice // that a message waits in line
	strange
)

func (c *community) kind(a answer) int {
	inLine, _, _ := strings.Cut(c.words.Say(phrase.InLine, "?"), "?")
	switch text := a.text; {
	case a.reaction:
		return reacted
	case answerOf.MatchString(text):
		return replied
	case strings.Contains(text, c.words.Say(phrase.Sorry)), strings.Contains(text, c.words.Say(phrase.CutOff)), strings.Contains(text, c.words.Say(phrase.LostReply)):
		return sorry
	case strings.Contains(text, inLine):
		return notice
	}
	return strange
}

var answerOf = regexp.MustCompile(`answer to (soak-\d+-)`)

// check compares what was said with what came, place by place.
func (c *community) check() {
	c.t.Helper()
	places, ids := map[where][]utter{}, map[string]utter{}
	for _, u := range c.said {
		places[u.at()] = append(places[u.at()], u)
		ids[u.id] = u
	}
	answered, sorries := 0, 0
	for at, said := range places {
		got, apologies := map[string]int{}, 0
		for _, a := range c.crowds[at.crowd].came(at.place) {
			switch c.kind(a) {
			case replied:
				id := answerOf.FindStringSubmatch(a.text)[1]
				if got[id]++; ids[id].at() != at {
					c.t.Errorf("%s is answered in %v", id, at)
				}
				if a.to != "" && a.to != ids[id].message {
					c.t.Errorf("%s is answered below %s", id, a.to)
				}
			case reacted, sorry:
				if a.to == "" {
					apologies++
				}
				for _, u := range said {
					if u.message == a.to {
						got[u.id]++
					}
				}
			case strange:
				c.t.Errorf("nobody asked for this: %+v", a)
			}
			if c.kind(a) == sorry {
				sorries++
			}
		}
		for _, u := range said {
			switch n := got[u.id]; {
			case n == 0 && apologies > 0: // the network does not say which it answers
				apologies--
			case n != 1:
				c.t.Errorf("%s (%v) in %v: %d answers", u.id, u.act, at, n)
			default:
				answered++
			}
		}
		if apologies > 0 {
			c.t.Errorf("%d apologies too many in %v", apologies, at)
		}
	}
	if answered*2 < len(c.said) {
		c.t.Errorf("of %d messages %d were answered", len(c.said), answered)
	}
	c.t.Logf("%d messages, %d answered each on its own, %d apologies", len(c.said), answered, sorries)
	for _, net := range c.crowds {
		for _, p := range net.problems() {
			c.t.Errorf("a rule of the network was broken: %s", p)
		}
	}
}

var (
	placeOf = regexp.MustCompile(`(?m)^- Platform: (\S+), (\S+) place (\S+)`)
	hushed  = regexp.MustCompile(secretly + `(soak-\d+-)`)
)

// prompts reads everything that the agent was ever told: what somebody said in private is told to nobody else, and to
// themselves only where they are alone.
func (c *community) prompts() {
	c.t.Helper()
	paths, err := filepath.Glob(filepath.Join(c.dir, "data", "workspaces", "*", "*", "work", "prompts.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	of := map[string]utter{}
	for _, u := range c.said {
		of[u.id] = u
	}
	told := map[string]int{}
	for _, path := range paths {
		prompts, torn := c.lines(path)
		told["cut off"] += torn
		for _, prompt := range prompts {
			place := placeOf.FindStringSubmatch(prompt)
			if place == nil {
				told["second prompts"]++
				if strings.Contains(prompt, secretly) {
					c.t.Errorf("%s: a second prompt tells a secret", path)
				}
				continue
			}
			told[place[2]]++
			if strings.Contains(prompt, openly) {
				told["of what everybody may know"]++
			}
			current := soakID.FindAllString(prompt, -1)
			for _, secret := range hushed.FindAllStringSubmatch(prompt, -1) {
				told["of what nobody else may know"]++
				whose, who := of[secret[1]].act, of[current[len(current)-1]].act
				if place[2] != "direct" || whose.crowd != who.crowd || whose.who != who.who {
					c.t.Errorf("%s: what was said in private, %q, was told in the %s place %s to answer %v", path, secret[0], place[2], place[3], who)
				}
			}
		}
	}
	c.t.Logf("the agent was told %v", told)
	if told["cut off"] > c.acts["murder"] {
		c.t.Errorf("%d prompts were not written whole, and %d agents were killed", told["cut off"], c.acts["murder"])
	}
	for _, what := range []string{"direct", "group", "of what everybody may know"} {
		if told[what] == 0 {
			c.t.Errorf("no prompt was %s: %v", what, told)
		}
	}
}

// lines reads a file of JSON strings. Torn are those of which only the beginning is there: whoever wrote them was killed.
func (c *community) lines(path string) (all []string, torn int) {
	c.t.Helper()
	file, err := os.Open(path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var text string
		switch err := json.Unmarshal(lines.Bytes(), &text); {
		case len(lines.Bytes()) == 0:
		case err == nil:
			all = append(all, text)
		case lines.Bytes()[0] == '"':
			torn++
		default:
			c.t.Fatal(fmt.Errorf("%s: %w", path, err))
		}
	}
	return all, torn
}
