package host

import (
	"strings"

	"familiar/internal/console"
	"familiar/internal/jsonrpc"
	"familiar/internal/phrase"
	"familiar/internal/terminal"
)

// mind says who thinks, as the page and /status show it before a message leaves. Many agents name a model together
// with its provider: anthropic/claude-sonnet-4-5.
func (h *Host) mind() console.Agent {
	if h.cfg.Agent.DryRun.Enabled {
		return console.Agent{Name: h.phrases.Say(phrase.DryRun), Model: shown(h.cfg.Agent.Model), Ready: true}
	}
	if h.own != nil {
		provider, model, ok := h.own.who()
		if !ok {
			return console.Agent{Missing: h.phrases.Say(phrase.AgentMissing), Next: h.phrases.Say(phrase.AgentNext)}
		}
		return console.Agent{Name: shown(h.agent.Name()), Provider: shown(provider), Model: shown(model), Pending: shown(model) == "", Ready: true}
	}
	model := h.cfg.Agent.Model
	provider, rest, named := strings.Cut(model, "/")
	if named {
		model = rest
	} else {
		provider = ""
	}
	return console.Agent{Name: shown(h.agent.Name()), Provider: shown(provider), Model: shown(model), Ready: true}
}

// thinks is what /status says of whoever thinks, a line for each thing.
func (h *Host) thinks() []string {
	who, say := h.mind(), h.phrases.Say
	if !who.Ready {
		return []string{who.Missing}
	}
	lines := []string{say(phrase.StatusAgent, who.Name)}
	if who.Provider != "" {
		lines = append(lines, say(phrase.StatusProvider, who.Provider))
	}
	switch {
	case who.Pending:
		return append(lines, say(phrase.StatusNoModel))
	case who.Model == "":
		return append(lines, say(phrase.StatusOwnModel))
	}
	return append(lines, say(phrase.StatusModel, who.Model))
}

// longestShown bounds the name of a provider or a model where it is shown, in bytes; the longest that we know of have
// about 80.
const longestShown = 200

// shown makes a name fit to be shown: one line, bounded. A provider names its models as it likes.
func shown(name string) string { return jsonrpc.Short(terminal.Flat(name), longestShown) }
