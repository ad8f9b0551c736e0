package loop

import (
	"slices"
	"strings"

	"familiar/internal/llm"
)

// talk is a conversation with the weight of each message. Messages are never changed in place: the model may still
// hold the slice that it was given.
type talk struct {
	messages []llm.Message
	weights  []int
	total    int // estimated tokens of all messages
}

func newTalk(messages []llm.Message) *talk {
	t := &talk{}
	for _, m := range messages {
		t.add(m)
	}
	return t
}

func (t *talk) add(m llm.Message) {
	w := weigh(m)
	t.messages, t.weights, t.total = append(t.messages, m), append(t.weights, w), t.total+w
}

// tell adds what a person says: to what was last put to the model, if it has not answered that yet.
func (t *talk) tell(parts ...llm.Part) {
	if n := len(t.messages); n > 0 && t.messages[n-1].Role == llm.User {
		t.messages = slices.Clone(t.messages)
		t.put(n-1, llm.Message{Role: llm.User, Parts: append(slices.Clip(t.messages[n-1].Parts), parts...)})
		return
	}
	t.add(llm.Message{Role: llm.User, Parts: parts})
}

// put replaces a message of a slice that nobody else holds.
func (t *talk) put(at int, m llm.Message) {
	w := weigh(m)
	t.messages[at], t.total, t.weights[at] = m, t.total-t.weights[at]+w, w
}

// cut forgets everything from a message on.
func (t *talk) cut(from int) {
	for _, w := range t.weights[from:] {
		t.total -= w
	}
	t.messages, t.weights = slices.Clip(t.messages[:from]), t.weights[:from]
}

// trim forgets the oldest whole exchanges until the rest weighs at most so much, but none from the message keep on.
// It returns how many messages went.
func (t *talk) trim(most, keep int) int {
	gone, total := 0, t.total
	for total > most && gone < keep {
		for first := true; gone < keep && (first || !begins(t.messages[gone])); gone++ {
			total -= t.weights[gone]
			first = false
		}
	}
	if gone > 0 {
		t.messages, t.weights = slices.Clone(t.messages[gone:]), slices.Clone(t.weights[gone:])
		t.total = total
	}
	return gone
}

// begins reports whether an exchange begins with the message.
func begins(m llm.Message) bool { return m.Role == llm.User && !holdsResults(m) }

// leastResult is the length that a result is cut to when room must be made, in bytes.
const leastResult = 400

// squeeze shortens results from the message from on, oldest first, until all weighs at most so much or there is
// nothing left to shorten. The newest message stays whole unless last is set.
func (t *talk) squeeze(most, from int, w words, last bool) {
	t.messages = slices.Clone(t.messages)
	end := len(t.messages)
	if !last {
		end--
	}
	for i := from; i < end && t.total > most; i++ {
		m, changed := t.messages[i], false
		parts := slices.Clone(m.Parts)
		for j, p := range parts {
			switch p := p.(type) {
			case llm.Result:
				if len(p.Text) > leastResult+len(w.Squeezed) {
					p.Text = strings.ToValidUTF8(p.Text[:leastResult], "") + "\n" + w.Squeezed
					parts[j], changed = p, true
				}
			case llm.Image:
				if holdsResults(m) {
					parts[j], changed = llm.Text(w.Squeezed), true
				}
			}
		}
		if changed {
			t.put(i, llm.Message{Role: m.Role, Parts: parts})
		}
	}
}

// blind puts words in the place of every picture, and reports whether there was one.
func (t *talk) blind(word string) bool {
	t.messages = slices.Clone(t.messages)
	found := false
	for i, m := range t.messages {
		parts := slices.Clone(m.Parts)
		changed := false
		for j, p := range parts {
			if _, image := p.(llm.Image); image {
				parts[j], changed = llm.Text(word), true
			}
		}
		if changed {
			t.put(i, llm.Message{Role: m.Role, Parts: parts})
			found = true
		}
	}
	return found
}

// The weight of what is not text, in tokens: what providers count for a picture of common size, and for the frame
// around each part.
const (
	imageWeight = 1500
	partWeight  = 4
)

// weigh estimates the tokens of a message.
func weigh(m llm.Message) int {
	sum := 0
	for _, p := range m.Parts {
		sum += partWeight
		switch p := p.(type) {
		case llm.Text:
			sum += estimate(string(p))
		case llm.Thinking:
			sum += estimate(p.Text) + len(p.Signature)/4
		case llm.Image:
			sum += imageWeight
		case llm.Call:
			sum += estimate(p.Name) + estimate(string(p.Input))
		case llm.Result:
			sum += estimate(p.Text)
		}
	}
	return sum
}

// estimate guesses the tokens of a text: four letters of an alphabet, or one sign of another script.
func estimate(text string) int {
	plain, signs := 0, 0
	for _, r := range text {
		if r < 0x2E80 {
			plain++
		} else {
			signs++
		}
	}
	return (plain+3)/4 + signs
}
