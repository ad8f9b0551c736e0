package llm

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

//go:embed texts/notes.json
var noteTexts []byte

// notes are the words that we put where something cannot be sent as it is.
type notes struct{ EmptyResult, FailedResult, LostImage, LargeImage string }

func readNotes() notes {
	var n notes
	_ = json.Unmarshal(noteTexts, &n) // a test reads it
	return n
}

// tidy returns the question as every provider takes it: no blank text, no broken characters, no picture that would be
// refused for ever, inputs of calls that are objects, no two messages of one role in a row, results before other
// parts. It does not repair a history: which calls have results is for whoever keeps it.
func (q Question) tidy(largest int) Question {
	n := readNotes()
	var kept []Message
	for _, m := range q.Messages {
		last := len(kept) - 1
		if last < 0 || kept[last].Role != m.Role {
			kept = append(kept, Message{Role: m.Role})
			last++
		}
		for _, part := range m.Parts {
			if part = n.tidy(part, largest); part != nil {
				kept[last].Parts = append(kept[last].Parts, part)
			}
		}
		if len(kept[last].Parts) == 0 {
			kept = kept[:last]
		}
	}
	for _, m := range kept {
		slices.SortStableFunc(m.Parts, func(a, b Part) int { return rank(a) - rank(b) })
	}
	q.Messages = kept
	if q.System = strings.ToValidUTF8(q.System, "\uFFFD"); strings.TrimSpace(q.System) == "" {
		q.System = ""
	}
	return q
}

// rank puts results before everything else.
func rank(p Part) int {
	if _, ok := p.(Result); ok {
		return 0
	}
	return 1
}

// tidy returns a part as it is sent; nil when nothing is left of it.
func (n notes) tidy(part Part, largest int) Part {
	switch part := part.(type) {
	case Text:
		if strings.TrimSpace(string(part)) == "" {
			return nil
		}
		return Text(strings.ToValidUTF8(string(part), "\uFFFD"))
	case Image:
		switch mime, ok := part.whole(); {
		case !ok:
			return Text(n.LostImage)
		case len(part.Data) > largest:
			return Text(n.LargeImage)
		default:
			return Image{MIME: mime, Data: part.Data}
		}
	case Call:
		part.Input = object(part.Input)
		return part
	case Result:
		part.Text = strings.ToValidUTF8(part.Text, "\uFFFD")
		if strings.TrimSpace(part.Text) == "" {
			part.Text = n.EmptyResult
		}
		return part
	}
	return part
}

// object returns the input of a call as an object, whatever a model wrote: providers refuse a conversation that holds
// anything else. Halves of surrogate pairs are replaced on the way.
func object(input json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) == nil && fields != nil {
		if !bytes.Contains(bytes.ToLower(input), []byte(`\ud`)) {
			return input
		}
		var whole map[string]any
		decoder := json.NewDecoder(bytes.NewReader(input))
		decoder.UseNumber()
		if decoder.Decode(&whole) == nil {
			if made, err := json.Marshal(whole); err == nil {
				return made
			}
		}
	}
	made, err := json.Marshal(struct {
		Unreadable string `json:"unreadable"`
	}{strings.ToValidUTF8(string(input), "\uFFFD")})
	if err != nil || len(bytes.TrimSpace(input)) == 0 {
		return json.RawMessage("{}")
	}
	return made
}

// whole returns the true type of a picture, and whether it is one that providers take, with its end. A name or a type
// that somebody gave says nothing; and one broken picture in a history would have every later question refused.
func (i Image) whole() (mime string, ok bool) {
	data := i.Data
	mime = http.DetectContentType(data)
	tail := data[len(data)-min(len(data), 4096):]
	switch mime {
	case "image/png":
		return mime, bytes.Contains(tail, []byte("IEND\xaeB`\x82"))
	case "image/jpeg":
		return mime, bytes.Contains(tail, []byte("\xff\xd9"))
	case "image/gif":
		return mime, len(data) > 13 && bytes.IndexByte(data[13:], ';') >= 0
	case "image/webp":
		if len(data) < 12 {
			return mime, false
		}
		size := uint64(data[4]) | uint64(data[5])<<8 | uint64(data[6])<<16 | uint64(data[7])<<24
		return mime, uint64(len(data)) >= size+8
	}
	return mime, false
}
