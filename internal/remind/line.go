package remind

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"familiar/internal/journal"
)

// iso is how times are written: UTC, to the millisecond.
const iso = "2006-01-02T15:04:05.000Z"

// The kinds of line.
const (
	entryLine = "reminder"
	patchLine = "reminder-patch"
)

// line is every field that a line of a reminder file may have. Place and Attempts are ours; programs that do not know
// them pass over them.
type line struct {
	Type        string   `json:"type"`
	ID          string   `json:"id,omitempty"`
	CreatedAt   string   `json:"createdAt,omitempty"`
	ScheduledAt string   `json:"scheduledAt,omitempty"`
	Message     string   `json:"message,omitempty"`
	Platform    string   `json:"platform,omitempty"`
	UserID      string   `json:"userId,omitempty"`
	ChannelID   string   `json:"channelId,omitempty"` // the direct place that it was asked for in
	Enabled     *bool    `json:"enabled,omitempty"`
	TargetID    string   `json:"targetId,omitempty"`
	TS          string   `json:"ts,omitempty"`
	Changes     *changes `json:"changes,omitempty"`
}

type changes struct {
	Enabled  *bool  `json:"enabled,omitempty"`
	Attempts int    `json:"attempts,omitempty"` // tries that brought nothing
	NotTill  string `json:"notTill,omitempty"`  // no further try before this time
}

// parsed is what a file holds: reminders in its order, patches as they came.
type parsed struct {
	reminders []Reminder
	patches   []line
}

// add takes in one line. A line that is none of ours, or lacks what a reminder needs, is passed over.
func (p *parsed) add(raw []byte) error {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return journal.ErrSkip
	}
	switch l.Type {
	case entryLine:
		r, err := l.reminder()
		if err != nil {
			return journal.ErrSkip
		}
		p.reminders = append(p.reminders, r)
	case patchLine:
		if l.TargetID == "" || l.Changes == nil {
			return journal.ErrSkip
		}
		p.patches = append(p.patches, l)
	}
	return nil
}

func (l line) reminder() (Reminder, error) {
	r := Reminder{ID: l.ID, Message: l.Message, Place: l.ChannelID, Enabled: l.Enabled == nil || *l.Enabled}
	r.Person.Platform, r.Person.ID = l.Platform, l.UserID
	var bad error
	if r.At, bad = time.Parse(time.RFC3339, l.ScheduledAt); bad != nil {
		return r, bad
	}
	r.Created, _ = time.Parse(time.RFC3339, l.CreatedAt) // missing, it is only not shown
	if r.ID == "" || r.Person.Platform == "" || r.Person.ID == "" {
		return r, errors.New("incomplete")
	}
	return r, nil
}

// resolve applies the patches, in their order, to the reminders.
func (p parsed) resolve() []Reminder {
	for _, patch := range p.patches {
		at := slices.IndexFunc(p.reminders, func(r Reminder) bool { return r.ID == patch.TargetID })
		if at < 0 {
			continue
		}
		r, c := &p.reminders[at], patch.Changes
		if c.Enabled != nil {
			r.Enabled = *c.Enabled
		}
		if c.Attempts > 0 {
			r.Attempts = c.Attempts
		}
		if t, err := time.Parse(time.RFC3339, c.NotTill); err == nil {
			r.notTill = t
		}
	}
	return p.reminders
}

// entry writes a reminder as one line.
func (r Reminder) entry() ([]byte, error) {
	on := true
	return json.Marshal(line{Type: entryLine, ID: r.ID, CreatedAt: stamp(r.Created), ScheduledAt: stamp(r.At), Message: r.Message,
		Platform: r.Person.Platform, UserID: r.Person.ID, ChannelID: r.Place, Enabled: &on})
}

// patch writes a change of a reminder as one line.
func patch(id string, now time.Time, c changes) ([]byte, error) {
	return json.Marshal(line{Type: patchLine, TargetID: id, TS: stamp(now), Changes: &c})
}

func stamp(t time.Time) string { return t.UTC().Format(iso) }
