package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/journal"
)

// refusedFile holds who was turned away; an older one lies beside it.
const refusedFile = "refused.jsonl"

// refusedOptions bound the file of refusals: whoever is turned away can write again and again.
var refusedOptions = journal.Options{MaxBytes: 4 << 20, Keep: 1}

// refusedJSON is one line of refused.jsonl: ids, and no text.
type refusedJSON struct {
	TS       string `json:"ts"`
	Rule     string `json:"rule"`
	Event    string `json:"event"`
	Kind     string `json:"kind"`
	Platform string `json:"platform"`
	Place    string `json:"place"`
	From     string `json:"from"`
	Message  string `json:"message,omitempty"`
}

// Refused records that a rule turned an event away.
func (b *Book) Refused(ev chat.Event, rule string) {
	if b == nil {
		return
	}
	if err := b.refuse(ev, rule); err != nil {
		b.log.Warn("a refusal was not recorded", chat.KeyEvent, ev.ID, chat.KeyRule, rule, chat.KeyErr, err)
	}
}

func (b *Book) refuse(ev chat.Event, rule string) error {
	entry := refusedJSON{TS: time.Now().UTC().Format(iso), Rule: rule, Event: string(ev.ID), Platform: ev.Place.Platform,
		Place: ev.Place.ID, From: ev.From.ID, Message: string(ev.Message)}
	if ev.Body != nil {
		entry.Kind = string(ev.Body.Kind())
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	return b.refused.append(line)
}

// refusals is the file of them, opened when there is a first one.
type refusals struct {
	dir string

	mu   sync.Mutex
	file *journal.Journal
}

func (r *refusals) append(line []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		if err := os.MkdirAll(r.dir, 0o700); err != nil {
			return err
		}
		file, err := journal.Open(filepath.Join(r.dir, refusedFile), refusedOptions)
		if err != nil {
			return err
		}
		r.file = file
	}
	return r.file.Append(line)
}

func (r *refusals) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	file := r.file
	r.file = nil
	return shut(file)
}

// Refusal is one event that was turned away.
type Refusal struct {
	At                             time.Time
	Rule, Event, Kind              string
	Platform, Place, From, Message string
}

// Refusals reads who was turned away, oldest first. Where nobody was, there is no file, and none are returned.
func Refusals(dir string, want Wanted) ([]Refusal, error) {
	var all []Refusal
	for _, name := range []string{refusedFile + ".1", refusedFile} {
		_, err := journal.Replay(filepath.Join(dir, name), func(text []byte) error {
			var raw refusedJSON
			at, err := time.Time{}, json.Unmarshal(text, &raw)
			if err == nil {
				at, err = time.Parse(iso, raw.TS)
			}
			if err != nil {
				return journal.ErrSkip
			}
			if want.takes(raw.Platform+"/"+raw.From, "", at) {
				all = append(all, Refusal{at, raw.Rule, raw.Event, raw.Kind, raw.Platform, raw.Place, raw.From, raw.Message})
			}
			return nil
		})
		if err = orGone(err); err != nil {
			return all, err
		}
	}
	return all, nil
}

// MarshalJSON writes the refusal as it stands in the file.
func (r Refusal) MarshalJSON() ([]byte, error) {
	return json.Marshal(refusedJSON{r.At.UTC().Format(iso), r.Rule, r.Event, r.Kind, r.Platform, r.Place, r.From, r.Message})
}

// Retell says it in words.
func (r Refusal) Retell() Sentence {
	return Sentence{At: r.At, Text: fmt.Sprintf("turned away %s of %s/%s in %s: the rule %s", r.Kind, r.Platform, r.From, r.Place, r.Rule), Mood: Bad}
}
