package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/loop"
	"familiar/internal/chat"
	"familiar/internal/doctor"
	"familiar/internal/llm"
	"familiar/internal/phrase"
)

// builtin is our own agent. Who answers may be known only after the network was asked, so that this happens when the
// bot is ready, or else when the first session is opened: a bot starts without the network.
type builtin struct {
	deps  llm.Deps
	limit time.Duration // for finding out who answers
	make  func(llm.Model, llm.Config) *loop.Agent
	none  error // what a person is told when nobody answers

	look chan struct{} // holds a token while nobody finds out who answers

	mu      sync.Mutex
	section llm.Config
	model   llm.Model
	loop    *loop.Agent
	closed  bool
}

// ourAgent is the name of the built-in agent, for people.
const ourAgent = "Familiar"

// openBuiltin makes the built-in agent of the section llm. Where that names no provider, it is the first whose key is
// there, and else an Ollama on this machine, if one answers.
func (h *Host) openBuiltin() *builtin {
	agents := h.cfg.Agent
	deps := llm.Deps{Environ: h.modelKeys(), Log: h.log.With("module", "LLM")}
	section := h.ownSection()
	h.Vault.Know(section.APIKey, section.Fallback.APIKey)
	limit := time.Duration(agents.ConnectTimeoutMs) * time.Millisecond
	b := &builtin{deps: deps, limit: limit, section: section, look: make(chan struct{}, 1),
		none: chat.UserError{Say: h.phrases.Say(phrase.NoAgent, h.phrases.Say(phrase.AgentNext)), Err: llm.ErrNone}}
	b.make = func(model llm.Model, section llm.Config) *loop.Agent {
		cfg := h.cfg.LLM.Budgets
		cfg.TimeoutMs = agents.PromptTimeoutMs
		others := &namedModels{open: func(name string) (llm.Model, error) {
			other := section
			other.Model = name
			return llm.Open(other, deps)
		}}
		return loop.New(cfg, model, loop.Deps{Log: h.log.With("module", "Agent"), Servers: h.servers(), Place: h.place,
			Connect: limit, Model: others.named})
	}
	b.look <- struct{}{}
	return b
}

// ownSection is the provider and the model that the built-in agent thinks with, as far as they are known without a word
// from the network.
func (h *Host) ownSection() llm.Config {
	section := h.cfg.LLM.Config
	if found := llm.Discover(h.modelKeys()); section.Provider == "" && len(found) > 0 {
		section = found[0].Fill(section)
	}
	section.Model = cmp.Or(section.Model, h.cfg.Agent.Model)
	return section
}

// modelKeys is our environment with the keys of model providers that are configured.
func (h *Host) modelKeys() []string {
	agents, environ := h.cfg.Agent, os.Environ()
	for name, key := range map[string]string{"ANTHROPIC_API_KEY": agents.AnthropicAPIKey.Reveal(), "OPENAI_API_KEY": agents.OpenAIAPIKey.Reveal(),
		"OPENROUTER_API_KEY": agents.OpenRouterAPIKey.Reveal(), "GEMINI_API_KEY": agents.GeminiAPIKey.Reveal()} {
		if key != "" {
			environ = append([]string{name + "=" + key}, environ...)
		}
	}
	return environ
}

// Name says who thinks.
func (*builtin) Name() string { return ourAgent }

// Open opens a session, and finds out who answers when that is not known yet.
func (b *builtin) Open(ctx context.Context, o agent.Opening) (agent.Session, error) {
	thinks, err := b.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	return thinks.Open(ctx, o)
}

// find finds out who answers, once.
func (b *builtin) find(ctx context.Context) (*loop.Agent, error) {
	select {
	case <-b.look:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { b.look <- struct{}{} }()
	b.mu.Lock()
	section, thinks, closed := b.section, b.loop, b.closed
	b.mu.Unlock()
	switch {
	case closed:
		return nil, agent.ErrGone
	case thinks != nil:
		return thinks, nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	if section.Provider == "" {
		local, ok := llm.Probe(ctx, "", b.deps)
		if !ok {
			return nil, b.none
		}
		section = local.Fill(section)
	}
	asked := section // a provider that is silent is told as such, before our own time is over
	asked.FirstByteMs = min(section.FirstByteMs, int(b.limit/time.Millisecond)*3/4)
	picked, err := llm.Pick(ctx, asked, b.deps)
	if err != nil {
		return nil, fmt.Errorf("choose a model: %w", err)
	}
	section.Provider, section.Model = picked.Provider, picked.Model
	model, err := llm.Open(section, b.deps)
	if err != nil {
		return nil, fmt.Errorf("open the model: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, agent.ErrGone
	}
	b.section, b.model, b.loop = section, model, b.make(model, section)
	return b.loop, nil
}

// who says who answers, as far as it is known; ok is false when nobody is.
func (b *builtin) who() (provider, model string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.model != nil {
		return b.model.Provider(), b.model.Name(), true
	}
	return b.section.Title(), b.section.Model, b.section.Provider != ""
}

// reached asks the provider for its models, which costs nothing, and says whether the configured one is among them.
func (b *builtin) reached(ctx context.Context) (doctor.Line, error) {
	section := b.section
	if section.Provider == "" {
		local, ok := llm.Probe(ctx, "", b.deps)
		if !ok {
			return doctor.Line{}, errors.New("nobody can think for this bot: there is no agent on PATH, no key of a provider and no Ollama here")
		}
		section = local.Fill(section)
	}
	listed, err := llm.Models(ctx, section, b.deps)
	if err != nil {
		return doctor.Line{}, fmt.Errorf("%s: %w", section.Title(), err)
	}
	same := func(name string) bool { // Ollama takes a name without its tag for the latest
		return name == section.Model || section.Provider == "ollama" && name == section.Model+":latest"
	}
	if section.Model != "" && !slices.ContainsFunc(listed, same) {
		return doctor.Doubtful(fmt.Sprintf("%s answers, and does not list the model %s", section.Title(), section.Model),
			"see agent.model and llm.model; it lists "+some(listed)), nil
	}
	return doctor.Well("%s answers and lists %d models", section.Title(), len(listed)), nil
}

// some names the first of a list.
func some(names []string) string {
	const most = 5
	switch n := len(names); {
	case n == 0:
		return "none"
	case n > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return strings.Join(names, ", ")
}

// meet finds out who answers as soon as the bot is ready, so that the page can name them before a message leaves.
func (h *Host) meet(ctx context.Context) {
	if h.own == nil {
		return
	}
	_, err := h.own.find(ctx)
	switch {
	case err == nil, ctx.Err() != nil:
	case errors.Is(err, llm.ErrNone):
		h.log.Warn("nobody can think for this bot yet: there is no agent on PATH, no key of a provider and no Ollama here")
	default:
		h.log.Warn("it is not known yet which model answers", chat.KeyErr, err)
	}
}

// Close ends every session.
func (b *builtin) Close() error {
	b.mu.Lock()
	b.closed = true
	thinks := b.loop
	b.mu.Unlock()
	if thinks == nil {
		return nil
	}
	return thinks.Close()
}
