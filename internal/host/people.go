package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/command"
	"familiar/internal/kv"
	"familiar/internal/pairing"
	"familiar/internal/phrase"
	"familiar/internal/thread"
)

// openPeople reads who is admitted, and opens the conversations of people.
func (h *Host) openPeople(ctx context.Context) error {
	store, err := kv.NewSQLite(ctx, h.db, h.now)
	if err != nil {
		return err
	}
	if h.people, err = pairing.Open(ctx, store, h.now); err != nil {
		return err
	}
	h.threads, err = thread.Open(ctx, h.db, h.now)
	return err
}

// offer gives a stranger a pairing code, on the goroutine that heard them. Nothing of what they said is kept.
func (h *Host) offer(ctx context.Context, ev chat.Event) {
	if known, err := h.inbox.Has(ctx, ev); known || err != nil { // a network tells again what was said before a restart
		if err != nil {
			h.log.Error("a stranger got no pairing code", chat.KeyEvent, ev.ID, chat.KeyErr, err)
		}
		return
	}
	code, err := h.people.Offer(ctx, ev.From, ev.Place)
	if err != nil {
		h.log.Error("a stranger got no pairing code", chat.KeyEvent, ev.ID, chat.KeyErr, err)
	}
	if code == "" {
		return
	}
	minutes := int(pairing.CodeLife / time.Minute)
	if !h.tell(ctx, ev, "pairing", h.phrases.Say(phrase.PairingOffer, code, minutes)) {
		if err := h.people.Withdraw(ctx, ev.From); err != nil {
			h.log.Error("a pairing code that was not told stays", chat.KeyEvent, ev.ID, chat.KeyErr, err)
		}
		return
	}
	h.log.Info("a stranger got a pairing code", chat.KeyEvent, ev.ID, chat.KeyPlatform, ev.Place.Platform, chat.KeyPerson, ev.From.ID)
}

// peopleCommands are what the owner does about people.
func (h *Host) peopleCommands() []command.Command {
	say := func(key phrase.Key) string { return h.phrases.Say(key) }
	return []command.Command{
		{Name: "/pair", Needs: chat.Owner, Args: say(phrase.ArgCode), Help: say(phrase.HelpPair), Run: h.pair},
		{Name: "/people", Needs: chat.Owner, Help: say(phrase.HelpPeople), Run: h.listPeople},
		{Name: "/unpair", Needs: chat.Owner, Args: say(phrase.ArgID), Help: say(phrase.HelpUnpair), Run: h.unpair},
	}
}

// peoplePage is the same for the page.
func (h *Host) peoplePage() pairing.Page {
	return pairing.Page{People: h.people, On: h.cfg.Access.Pairing, Owner: webOwner, Admitted: h.welcome, Removed: h.removed}
}

func (h *Host) pair(ctx context.Context, t chat.Turn, code string) (string, error) {
	switch {
	case !h.cfg.Access.Pairing:
		return h.phrases.Say(phrase.PairingOff), nil
	case code == "":
		return h.phrases.Say(phrase.PairUsage), nil
	}
	a, err := h.people.Admit(ctx, code, t.From)
	for known, key := range map[error]phrase.Key{pairing.ErrCode: phrase.CodeUnknown,
		pairing.ErrTooMany: phrase.CodeTooMany, pairing.ErrFull: phrase.PeopleFull} {
		if errors.Is(err, known) {
			return "", chat.UserError{Say: h.phrases.Say(key), Err: err}
		}
	}
	if err != nil {
		return "", err
	}
	h.welcome(ctx, a)
	return h.phrases.Say(phrase.Paired, named(a)), nil
}

// welcome tells somebody, where they had asked, that they are heard now.
func (h *Host) welcome(ctx context.Context, a pairing.Admission) {
	h.log.Info("somebody was admitted", chat.KeyPlatform, a.Person.Platform, chat.KeyPerson, a.Person.ID, "by", a.By.ID)
	ev := chat.Event{ID: chat.NewEventID("pairing", a.Place, chat.KindSettled, a.Person.ID, a.At.Format(time.RFC3339Nano)),
		At: a.At, Place: a.Place, From: a.Person, Body: chat.Settled{Work: "pairing"}}
	h.tell(ctx, ev, "pairing", h.phrases.Say(phrase.PairingWelcome))
}

func (h *Host) removed(_ context.Context, a pairing.Admission) {
	h.log.Info("somebody is heard no more", chat.KeyPlatform, a.Person.Platform, chat.KeyPerson, a.Person.ID)
}

func (h *Host) listPeople(context.Context, chat.Turn, string) (string, error) {
	people, waiting := h.people.People()
	lines := make([]string, 0, len(people)+1)
	for _, a := range people {
		lines = append(lines, fmt.Sprintf("- %s, %s", named(a), a.At.In(h.cfg.Bot.Zone()).Format(time.DateOnly)))
	}
	if len(people) == 0 {
		lines = append(lines, h.phrases.Say(phrase.NobodyAdmitted))
	}
	if waiting > 0 {
		lines = append(lines, "", h.phrases.Say(phrase.CodesWaiting, waiting))
	}
	return strings.Join(lines, "\n"), nil
}

func (h *Host) unpair(ctx context.Context, _ chat.Turn, id string) (string, error) {
	id = strings.Trim(id, "`")
	if id == "" {
		return h.phrases.Say(phrase.UnpairUsage), nil
	}
	a, err := h.people.Remove(ctx, id)
	if errors.Is(err, pairing.ErrUnknown) {
		return "", chat.UserError{Say: h.phrases.Say(phrase.PersonUnknown), Err: err}
	}
	if err != nil {
		return "", err
	}
	h.removed(ctx, a)
	return h.phrases.Say(phrase.Unpaired, named(a)), nil
}

// named shows a person with the id that /unpair takes.
func named(a pairing.Admission) string {
	id := fmt.Sprintf("`%s/%s`", a.Person.Platform, strings.Map(func(r rune) rune {
		if r < ' ' || r == '`' {
			return -1
		}
		return r
	}, a.Person.ID))
	if a.Person.Name == "" {
		return id
	}
	return a.Person.Name + " " + id
}
