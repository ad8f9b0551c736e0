package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"familiar/internal/chat"
	"familiar/internal/command"
	"familiar/internal/config"
	"familiar/internal/desk/companion"
	"familiar/internal/explanation"
	"familiar/internal/gate"
	"familiar/internal/instance"
	"familiar/internal/kv"
	"familiar/internal/pairing"
	"familiar/internal/phrase"
	"familiar/internal/router"
	"familiar/internal/sqlite"
)

// Explain says what a bot of that configuration would do with an event, running or not. It changes nothing, and counts
// nothing.
func Explain(ctx context.Context, inst instance.Instance, loaded config.Loaded, ev chat.Event) (explanation.Explanation, error) {
	cfg := loaded.Config
	admitted, err := admittedTo(ctx, inst)
	if err != nil {
		return explanation.Explanation{}, fmt.Errorf("look up whom an owner admitted: %w", err)
	}
	g := gate.New(cfg.Access.Config, cfg.Owners(), admitted)
	opinions, v := g.Explain(ev)
	e := explanation.Explanation{Event: explanation.Of(ev), Outcome: chat.Accepted.String(), Rule: v.Rule, Why: v.Why}
	for _, o := range opinions {
		e.Rules = append(e.Rules, explained(o))
	}
	if v.Decided {
		e.Outcome = v.Outcome.String()
		if v.Stranger && cfg.Access.Pairing {
			e.Why += "; a stranger in private is offered a pairing code"
		}
		return e, nil
	}
	e.Then, err = then(cfg, g, ev)
	return e, err
}

func explained(o gate.Opinion) explanation.Rule {
	r := explanation.Rule{Rule: o.Rule, When: explanation.Early, Opinion: explanation.None, Why: o.Verdict.Why}
	if o.Late {
		r.When = explanation.Late
	}
	switch {
	case o.Verdict.Decided:
		r.Opinion = explanation.TurnAway
	case o.Final:
		r.Opinion = explanation.Passes
	}
	return r
}

// then says what would come of an event that is heard.
func then(cfg config.Config, g *gate.Gate, ev chat.Event) (*explanation.Then, error) {
	trust := g.Trust(ev)
	t := &explanation.Then{Trust: trust.String(), Room: companion.New(companion.Deps{}).Room(ev)}
	t.Yolo, t.YoloSource = g.Yolo(ev)
	said, ok := ev.Body.(chat.Said)
	if !ok {
		return t, nil
	}
	phrases, err := phrase.In(cfg.Bot.Language)
	if err != nil {
		return nil, err
	}
	name, _ := command.Split(said.Text)
	for _, c := range (&Host{phrases: phrases}).openCommands().For(trust) {
		if c.Name == name {
			t.Command = name
			return t, nil
		}
	}
	t.SessionType = chat.MessageSession
	choice := router.New(cfg.Agent.ModelRouting, cfg.Agent.Model, gate.Target).Choose(router.Session{Type: t.SessionType, Cause: ev})
	t.Model, t.ModelWhy = choice.Model, choice.Why
	if h := (&Host{cfg: cfg}); t.Model == "" && h.ours() {
		t.Model, t.ModelWhy = h.ownModel()
	}
	return t, nil
}

// ownModel is which model the built-in agent thinks with where no rule and no feature names one, and why.
func (h *Host) ownModel() (model, why string) {
	switch section := h.ownSection(); {
	case section.Model != "":
		return section.Model, "llm.model, for the built-in agent"
	case section.Provider != "":
		return "", "the built-in agent takes one that " + section.Title() + " lists, when the bot starts"
	}
	return "", "the built-in agent has no key of a provider here; a bot takes an Ollama of its machine, where one answers"
}

// admittedTo looks up whom an owner of the bot admitted, without a write to its database.
func admittedTo(ctx context.Context, inst instance.Instance) (_ func(chat.Person) bool, err error) {
	db, err := sqlite.Peek(ctx, inst.Database())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it has not run yet
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	store, err := kv.Peek(ctx, db, time.Now)
	if errors.Is(err, kv.ErrMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	people, err := pairing.Open(ctx, store, time.Now)
	if err != nil {
		return nil, err
	}
	return people.Admitted, nil
}
