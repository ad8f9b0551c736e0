package loop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"familiar/internal/llm"
)

// Repairs counts what was mended in a history.
type Repairs struct {
	Results int // calls without a result, which got one that failed
	Images  int // pictures that could not be read
	Texts   int // words and inputs that were no text, or no JSON
	Parts   int // parts and messages that had no place where they stood
}

// Any reports whether anything was mended.
func (r Repairs) Any() bool { return r != Repairs{} }

// Repair makes a history that every provider takes: it begins with what a person said and ends with what the model
// said; the two take turns; every call has one result, right after it and in order; pictures can be read, words are
// words. A whole history comes back as it was.
func Repair(h History) (History, Repairs) {
	m := mender{words: sentences(), ids: newIDs(), decode: true}
	return History{Messages: m.mend(h.Messages), Foreign: h.Foreign}, m.done
}

// mender mends messages.
type mender struct {
	words  words
	ids    *ids
	decode bool // read pictures to their end
	done   Repairs
	out    []llm.Message
}

func (m *mender) mend(messages []llm.Message) []llm.Message {
	for i := 0; i < len(messages); i++ {
		said := messages[i]
		if said.Role != llm.Assistant {
			m.person(said)
			continue
		}
		var answers []llm.Part // of all that follows until the model speaks again
		next := i + 1
		for ; next < len(messages) && messages[next].Role == llm.User && holdsResults(messages[next]); next++ {
			answers = append(answers, messages[next].Parts...)
		}
		if m.model(said, answers) {
			i = next - 1
		}
	}
	if n := len(m.out); n > 0 && m.out[n-1].Role == llm.User {
		m.out = append(m.out, m.note(m.words.CutOff))
	}
	return m.out
}

func (m *mender) note(text string) llm.Message {
	return llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text(text)}}
}

// person takes what a person said, or what of it has a place here.
func (m *mender) person(said llm.Message) {
	if said.Role != llm.User {
		m.done.Parts++
		return
	}
	parts := m.parts(said.Parts, false)
	if len(parts) == 0 {
		m.done.Parts++
		return
	}
	if n := len(m.out); n > 0 && m.out[n-1].Role == llm.User {
		m.out = append(m.out, m.note(m.words.CutOff))
		m.done.Parts++
	}
	m.out = append(m.out, llm.Message{Role: llm.User, Parts: parts})
}

// model takes what the model said, and the results of its calls; it reports whether these were used up.
func (m *mender) model(said llm.Message, answers []llm.Part) bool {
	if len(m.out) == 0 { // nobody has said anything to it
		m.done.Parts++
		return false
	}
	parts := m.parts(said.Parts, true)
	var calls []llm.Call
	results := map[string][]llm.Result{}
	for _, p := range answers {
		if r, ok := p.(llm.Result); ok {
			results[r.Call] = append(results[r.Call], r)
		}
	}
	var in []llm.Part
	for i, p := range parts {
		c, ok := p.(llm.Call)
		if !ok {
			continue
		}
		r := llm.Result{Text: m.words.NoResult, Failed: true}
		if found := results[c.ID]; len(found) > 0 {
			r, results[c.ID] = found[0], found[1:]
			r.Text = m.text(r.Text)
		} else {
			m.done.Results++
		}
		c.ID = m.ids.take(c.ID)
		r.Call, parts[i] = c.ID, c
		calls, in = append(calls, c), append(in, r)
	}
	for _, rest := range results {
		m.done.Parts += len(rest)
	}
	m.say(parts)
	if len(calls) == 0 {
		return false
	}
	rest := slices.DeleteFunc(slices.Clone(answers), func(p llm.Part) bool { _, is := p.(llm.Result); return is || p == nil })
	m.out = append(m.out, llm.Message{Role: llm.User, Parts: append(in, m.parts(rest, false)...)})
	return true
}

// say puts down what the model said: right after what a person said, or with what it said itself.
func (m *mender) say(parts []llm.Part) {
	if last := &m.out[len(m.out)-1]; last.Role == llm.Assistant {
		m.done.Parts++
		last.Parts = append(slices.Clip(last.Parts), parts...)
		return
	}
	if !slices.ContainsFunc(parts, func(p llm.Part) bool { _, thought := p.(llm.Thinking); return !thought }) {
		parts = append(parts, llm.Text(m.words.NoAnswer))
		m.done.Parts++
	}
	m.out = append(m.out, llm.Message{Role: llm.Assistant, Parts: parts})
}

// parts returns what may stand in a message of the model, or of a person, whose results are not its own affair.
func (m *mender) parts(parts []llm.Part, model bool) []llm.Part {
	kept := make([]llm.Part, 0, len(parts))
	for _, p := range parts {
		mine := false
		switch t := p.(type) {
		case llm.Text:
			mine = strings.TrimSpace(string(t)) != ""
			p = llm.Text(m.text(string(t)))
		case llm.Image:
			mine = !model
			p = m.image(t)
		case llm.Thinking:
			mine = model && strings.ToValidUTF8(t.Text, "") == t.Text
		case llm.Call:
			mine = model
			p = m.call(t)
		}
		if !mine {
			m.done.Parts++
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

func (m *mender) text(text string) string {
	valid := strings.ToValidUTF8(text, "\uFFFD")
	if valid != text {
		m.done.Texts++
	}
	return valid
}

func (m *mender) image(i llm.Image) llm.Part {
	mime, _, ok := look(i.Data)
	if ok && m.decode {
		mime, ok = whole(i.Data)
	}
	if !ok {
		m.done.Images++
		return llm.Text(m.words.LostImage)
	}
	if mime != i.MIME {
		m.done.Images++
	}
	return llm.Image{MIME: mime, Data: i.Data}
}

func (m *mender) call(c llm.Call) llm.Call {
	name, input := plainName(c.Name), plainInput(c.Input)
	if name != c.Name || !bytes.Equal(input, c.Input) {
		m.done.Texts++
	}
	return llm.Call{ID: c.ID, Name: name, Input: input}
}

// plainInput makes a JSON object without half characters: providers refuse a conversation that has anything else. What
// the model wrote instead is lost, but not what was said about it.
func plainInput(input json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(input, &object) != nil || object == nil {
		return json.RawMessage("{}")
	}
	return wholeEscapes(bytes.ToValidUTF8(input, []byte("\uFFFD")))
}

// holdsResults reports whether a message answers calls, and so belongs to the exchange that runs.
func holdsResults(m llm.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p llm.Part) bool { _, is := p.(llm.Result); return is })
}

// ids gives calls names that are there once in a session.
type ids struct {
	used map[string]bool
	next int
}

func newIDs() *ids { return &ids{used: map[string]bool{}} }

// take returns the name if it is free and every provider takes it, else a new one. New ones are nine letters and
// digits, which is the only form that one provider takes.
func (i *ids) take(id string) string {
	for id == "" || len(id) > longestName || plainName(id) != id || i.used[id] {
		i.next++
		id = fmt.Sprintf("call%05d", i.next)
	}
	i.used[id] = true
	return id
}
