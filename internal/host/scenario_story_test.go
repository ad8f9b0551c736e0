package host

import (
	"fmt"
	"strings"
)

// scene is one thing that happens, and what it leads to. It is one line of a story with the indented lines below it.
type scene struct {
	line         int
	text         string // the line itself
	verb         string // its first word; "says" where a person does something
	rest         string
	who, where   string // of a person's deed
	how          []string
	plays        []play
	told, untold []string
	lines        []string // the indented lines that stay as they are
	wanted       []string // what is to reach the network, as written
	waits        bool     // more is to come before anybody looks at it
	outcome      string   // as written; "" means accepted
}

// play is what the agent does in one session: a list for each prompt.
type play [][]string

// deeds are the first words of lines about no person.
var deeds = map[string]bool{"town": true, "network": true, "repeat": true, "reminders": true, "post": true, "lurk": true, "research": true,
	"tidy": true, "go": true, "restart": true, "crash": true, "memory": true, "reminder": true, "write": true, "admit": true,
	"refuses": true, "limits": true, "loses": true, "drops": true}

// readStory reads the section story.
func readStory(text string) (all []*scene, err error) {
	var now *scene
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch indented := strings.HasPrefix(line, " "); {
		case !indented && line != "" && !strings.HasPrefix(line, "#"):
			if now, err = readScene(line); err != nil {
				return nil, fmt.Errorf("line %d of the story: %w", i+1, err)
			}
			now.line = i + 1
			all = append(all, now)
		case now == nil:
			return nil, fmt.Errorf("line %d of the story: it begins with %q", i+1, line)
		default:
			if err := now.below(line); err != nil {
				return nil, fmt.Errorf("line %d of the story: %w", i+1, err)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no story")
	}
	return all, nil
}

func readScene(line string) (*scene, error) {
	s := &scene{text: line}
	s.verb, s.rest, _ = strings.Cut(line, " ")
	if deeds[s.verb] {
		return s, nil
	}
	head, said, _ := strings.Cut(line, ": ")
	words := strings.Fields(strings.TrimSuffix(head, ":"))
	if len(words) < 3 || words[1] != "in" {
		return nil, fmt.Errorf("%q is no deed, and not «WHO in PLACE: WORDS»", line)
	}
	s.verb, s.who, s.where, s.how, s.rest = "says", words[0], words[2], words[3:], said
	return s, nil
}

// below takes an indented line, an empty one or a comment.
func (s *scene) below(line string) error {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "<":
		s.wanted = append(s.wanted, rest)
		return nil
	case "is":
		s.outcome = rest
		return nil
	case "told":
		s.told = append(s.told, rest)
	case "untold":
		s.untold = append(s.untold, rest)
	case "then": // another session
		s.plays = append(s.plays, play{nil})
	case "again": // the same session is prompted again
		s.plays[len(s.plays)-1] = append(s.plays[len(s.plays)-1], nil)
	case "does":
		if len(s.plays) == 0 {
			s.plays = append(s.plays, play{nil})
		}
		p := s.plays[len(s.plays)-1]
		p[len(p)-1] = append(p[len(p)-1], rest)
	case "waits":
		s.waits = true
	case "", "#":
	default:
		return fmt.Errorf("%q is nothing that can stand below a deed", verb)
	}
	s.lines = append(s.lines, line)
	return nil
}

// came notes what the scene came to, in the place of what was written.
func (s *scene) came(outcome string, out []string) { s.outcome, s.wanted = outcome, out }

// writeStory writes scenes as readStory reads them; what reached the network comes last below a scene.
func writeStory(all []*scene) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintln(&b, s.text)
		lines, blank := s.lines, 0
		for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" || len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "#") {
			lines, blank = lines[:len(lines)-1], blank+1
		}
		for _, line := range lines {
			fmt.Fprintln(&b, line)
		}
		if s.outcome != "" {
			fmt.Fprintln(&b, "  is", s.outcome)
		}
		for _, line := range s.wanted {
			fmt.Fprintln(&b, "  <", line)
		}
		for _, line := range s.lines[len(s.lines)-blank:] {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}
