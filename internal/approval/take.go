package approval

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"familiar/internal/chat"
	"familiar/internal/phrase"
)

// Taken is what an event was to the questions.
type Taken struct {
	Is  bool      // it was an answer, and is nothing else
	Say string    // for whoever answered; "" says nothing
	Do  *Question // what has to be run now, once
}

// The commands that answer.
const (
	sayYes = "/yes"
	sayNo  = "/no"
)

// answer is an event that answers a question.
type answer struct {
	question Question
	option   Option
}

// Foul reports whether a program tries to answer in its owner's name.
func (a *Approvals) Foul(ev chat.Event) bool {
	if !ev.ByProgram {
		return false
	}
	switch body := ev.Body.(type) {
	case chat.Pressed:
		return true
	case chat.Said:
		name, _ := command(body.Text)
		return name == sayYes || name == sayNo
	}
	return false
}

// Take settles the question that an event answers: a button, /yes ID or /no ID, an option's word as a reply to the
// question, or that word alone where there is no doubt what it means. The first answer counts; a later one is told how
// the question ended. trust is the author's.
func (a *Approvals) Take(ctx context.Context, ev chat.Event, trust chat.Trust) (Taken, error) {
	if ev.ByProgram {
		return Taken{}, nil
	}
	found, err := a.means(ctx, ev, trust)
	_, pressed := ev.Body.(chat.Pressed)
	switch {
	case err != nil:
		return Taken{}, err
	case found == nil && pressed:
		return Taken{Is: true, Say: a.deps.Phrases.Say(phrase.ApprovalGone)}, nil
	case found == nil:
		return Taken{}, nil
	case !found.question.mayAnswer(ev.From, trust):
		return Taken{Is: true, Say: a.deps.Phrases.Say(phrase.ApprovalNotYours)}, nil
	}
	q, won, err := a.settle(ctx, found.question.ID, found.option, ev, trust)
	if err != nil {
		return Taken{}, err
	}
	if !won {
		if q.State == Expired && !q.Closed {
			a.close(ctx, q)
		}
		return Taken{Is: true, Say: a.deps.Phrases.Say(phrase.ApprovalLate, a.ending(q))}, nil
	}
	a.wake(q)
	taken := Taken{Is: true}
	if shown := a.close(ctx, q); !shown && q.Option == No {
		taken.Say = a.ending(q) // nothing else would tell that it was heard
	}
	if q.Kind == Deed && q.Option != No {
		taken.Do = &q
	}
	return taken, nil
}

// means finds the question that an event answers, and how; nil when it answers none.
func (a *Approvals) means(ctx context.Context, ev chat.Event, trust chat.Trust) (*answer, error) {
	switch body := ev.Body.(type) {
	case chat.Pressed:
		return a.button(ctx, ev.Place, body.Button)
	case chat.Said:
		if name, id := command(body.Text); name == sayYes || name == sayNo {
			option := Yes
			if name == sayNo {
				option = No
			}
			return a.named(ctx, id, option)
		}
		option, ok := a.word(body.Text)
		switch {
		case !ok:
			return nil, nil
		case body.ReplyTo != "":
			return a.replied(ctx, ev.Place, body.ReplyTo, option)
		}
		return a.alone(ctx, ev, trust, option)
	}
	return nil, nil
}

// button finds what a button means. One that is not of this place, or of an earlier time, means nothing.
func (a *Approvals) button(ctx context.Context, at chat.Place, button string) (*answer, error) {
	db := a.deps.DB.Read()
	q, ok, err := one(ctx, db, `platform = ? AND place = ? AND id = (SELECT question FROM approval_buttons WHERE button = ?)`,
		at.Platform, at.ID, button)
	if err != nil || !ok {
		return nil, err
	}
	found := answer{question: q}
	return &found, db.QueryRowContext(ctx, `SELECT option FROM approval_buttons WHERE button = ?`, button).Scan(&found.option)
}

// named finds a question by the id that somebody wrote.
func (a *Approvals) named(ctx context.Context, id string, option Option) (*answer, error) {
	q, ok, err := one(ctx, a.deps.DB.Read(), `id = ?`, strings.ToLower(id))
	if err != nil || !ok {
		return nil, err
	}
	return &answer{q, option}, nil
}

// replied finds the question that a message replies to.
func (a *Approvals) replied(ctx context.Context, at chat.Place, to chat.MessageID, option Option) (*answer, error) {
	q, ok, err := one(ctx, a.deps.DB.Read(), `message = ? AND platform = ? AND place = ?`, to, at.Platform, at.ID)
	if err != nil || !ok {
		return nil, err
	}
	return &answer{q, option}, nil
}

// alone finds the question that a bare word answers: the only one that is open there to whoever says it, shown long
// enough ago to have been read, and the newest thing that we said.
func (a *Approvals) alone(ctx context.Context, ev chat.Event, trust chat.Trust, option Option) (*answer, error) {
	open, err := a.Open(ctx, ev.From, trust)
	open = slices.DeleteFunc(open, func(q Question) bool { return !q.Place.Same(ev.Place) })
	if err != nil || len(open) != 1 {
		return nil, err
	}
	q := open[0]
	if q.Message == "" || ev.At.Before(q.Shown.Add(quiet)) {
		return nil, nil
	}
	said, err := a.deps.Before(ctx, ev.Place, ev.Message, lookBack)
	if err != nil {
		return nil, err
	}
	for i := len(said) - 1; i >= 0; i-- {
		if said[i].From.Us {
			if said[i].ID == q.Message {
				return &answer{q, option}, nil
			}
			break
		}
	}
	return nil, nil
}

// word returns the option that a text is, whole: its label, or yes or no.
func (a *Approvals) word(text string) (Option, bool) {
	text = strings.ToLower(strings.Trim(strings.TrimSpace(text), ".!。！"))
	for _, option := range []Option{Yes, No} {
		if text == string(option) || text == strings.ToLower(a.deps.Phrases.Say(labels[option])) {
			return option, true
		}
	}
	return "", false
}

// command parts a text into the slash word that it begins with and what follows.
func command(text string) (name, rest string) {
	text = strings.TrimSpace(text)
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i], strings.TrimSpace(text[i:])
	}
	return text, ""
}
