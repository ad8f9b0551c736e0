package serve

import (
	"context"
	"strings"
	"sync"
	"time"

	"familiar/internal/llm"
)

const (
	// listTime is how long a provider may take to list its models; a session does without the list then.
	listTime = 5 * time.Second
	// mostModels is how many models may be chosen from: some providers list hundreds.
	mostModels = 300
)

// Providers are the models of the provider that a section names, or of the first that the environment has a key for.
type Providers struct {
	section llm.Config
	deps    llm.Deps

	mu     sync.Mutex
	chosen string // the model of whoever chose none
	listed []string
}

// NewProviders makes them of a section; it reaches no network.
func NewProviders(section llm.Config, deps llm.Deps) *Providers {
	return &Providers{section: section, deps: deps}
}

// Ready reports whether there is a provider with a key.
func (p *Providers) Ready() error {
	_, err := p.Named("any")
	return err
}

// Named returns a model of the provider.
func (p *Providers) Named(name string) (llm.Model, error) {
	section := p.section
	section.Model = name
	return llm.Open(section, p.deps)
}

// Default returns the model that is configured, or one that we know to be good. The provider is asked once.
func (p *Providers) Default(ctx context.Context) (llm.Model, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.chosen == "" {
		section, err := llm.Pick(ctx, p.section, p.deps)
		if err != nil {
			return nil, err
		}
		p.chosen = strings.TrimSpace(section.Model)
	}
	return p.Named(p.chosen)
}

// Names lists the provider's models. One that does not say is asked again the next time.
func (p *Providers) Names(ctx context.Context) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listed == nil {
		ctx, cancel := context.WithTimeout(ctx, listTime)
		defer cancel()
		listed, err := llm.Models(ctx, p.section, p.deps)
		if err != nil {
			return nil
		}
		p.listed = listed[:min(len(listed), mostModels)]
	}
	return append([]string{}, p.listed...)
}
