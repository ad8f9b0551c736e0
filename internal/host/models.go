package host

import (
	"sync"

	"familiar/internal/chat"
	"familiar/internal/llm"
	"familiar/internal/phrase"
	"familiar/internal/rehearsal"
	"familiar/internal/router"
)

// model chooses the model of a session.
func (h *Host) model(kind chat.SessionType, ev chat.Event) string {
	return h.reload.router.Load().Choose(router.Session{Type: kind, Cause: ev, Section: h.sectionModel(kind)}).Model
}

// sectionModel is the model that the feature behind a type of session names for itself, if it does.
func (h *Host) sectionModel(kind chat.SessionType) string {
	own := h.cfg.Companion
	return map[chat.SessionType]string{chat.ResearchSession: own.SelfResearch.Model, chat.UpkeepSession: own.MemoryMaintenance.Model}[kind]
}

// rehearse makes what stands in for the agent of a dry run.
func (h *Host) rehearse() *rehearsal.Agent {
	cfg := h.cfg.Agent.DryRun
	reply := cfg.MockReply
	if reply == rehearsal.AutoReply {
		reply = h.phrases.Say(phrase.DryRunReply)
	}
	return rehearsal.New(rehearsal.Deps{Dir: h.Loaded.Path(cfg.OutputPath), Reply: reply, Now: h.now, Log: h.log.With("module", "DryRun")})
}

// namedModels are the models of the built-in agent that are asked for by name, each opened once: what a model knows of
// its provider's trouble is worth keeping from one session to the next. Safe for concurrent use.
type namedModels struct {
	open func(name string) (llm.Model, error)

	mu   sync.Mutex
	kept map[string]llm.Model
}

func (n *namedModels) named(name string) (llm.Model, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if m := n.kept[name]; m != nil {
		return m, nil
	}
	m, err := n.open(name)
	if err != nil {
		return nil, err
	}
	if n.kept == nil {
		n.kept = map[string]llm.Model{}
	}
	n.kept[name] = m
	return m, nil
}
