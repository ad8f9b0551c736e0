package llm

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"familiar/internal/secret"
)

// provider is what we know of one.
type provider struct {
	id      string
	title   string // for people, at its own address; "" takes the host: see titleAt
	base    string // address, up to what all paths have in common
	env     string // where its key is looked for; "" when it needs none
	speaks  dialect
	isLocal bool
	images  int // the largest picture that it takes, in bytes
}

// dialect is a language of the wire.
type dialect int

const (
	chat     dialect = iota // OpenAI's chat completions
	messages                // Anthropic's messages
)

const compatible = "compatible"

// largestImage is what most providers take, in bytes. Anthropic takes 5 MiB of base64.
const (
	largestImage          = 15 << 20
	largestAnthropicImage = 5 << 20 / 4 * 3
)

// providers stand in the order in which they are looked for.
var providers = []provider{
	{id: "anthropic", title: "Anthropic", base: "https://api.anthropic.com", env: "ANTHROPIC_API_KEY", speaks: messages, images: largestAnthropicImage},
	{id: "openai", title: "OpenAI", base: "https://api.openai.com/v1", env: "OPENAI_API_KEY", images: largestImage},
	{id: "openrouter", title: "OpenRouter", base: "https://openrouter.ai/api/v1", env: "OPENROUTER_API_KEY", images: largestImage},
	{id: "gemini", title: "Google Gemini", base: "https://generativelanguage.googleapis.com/v1beta/openai", env: "GEMINI_API_KEY", images: largestImage},
	{id: "ollama", title: "Ollama", base: "http://127.0.0.1:11434/v1", isLocal: true, images: largestImage},
	{id: compatible, isLocal: true, images: largestImage},
}

func providerOf(id string) (provider, bool) {
	i := slices.IndexFunc(providers, func(p provider) bool { return p.id == id })
	if i < 0 {
		return provider{}, false
	}
	return providers[i], true
}

// place is a provider at an address with a key.
type place struct {
	provider
	key secret.Value
}

// at returns where a configured provider is. A key that is not configured is looked for in env.
func at(id, base string, key secret.Value, env func(string) string) (place, error) {
	known, ok := providerOf(id)
	if !ok {
		return place{}, Problem{Kind: NoModel, Say: "llm.provider: " + id + " is not known; it is one of " + strings.Join(Providers(), ", ")}
	}
	p := place{known, key}
	if base != "" {
		p.base = strings.TrimRight(base, "/")
	}
	if p.speaks == messages { // people write the address with and without it
		p.base = strings.TrimSuffix(p.base, "/v1")
	}
	p.title = known.titleAt(p.base)
	if !p.key.Set() && p.env != "" {
		p.key = secret.New(env(p.env))
	}
	if !p.key.Set() && !p.isLocal {
		return place{}, p.problem("", BadKey, nil)
	}
	return p, nil
}

// titleAt is who serves a provider at an address, for people: its title where the address is its own, and else the
// host, since that is who gets the key and the conversation. For a local provider every address of this machine is its
// own.
func (p provider) titleAt(base string) string {
	title := cmp.Or(p.title, p.id)
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return title
	}
	own, err := url.Parse(p.base)
	switch {
	case p.title == "" || err != nil:
		return u.Host
	case strings.EqualFold(u.Hostname(), own.Hostname()), p.isLocal && loopback(u.Hostname()):
		return title
	}
	return u.Host
}

// Title is who serves the section's provider, for people, as Model's Provider says it; "" without a provider. It needs
// neither a key nor a model.
func (c Config) Title() string {
	p, ok := providerOf(c.Provider)
	if !ok {
		return c.Provider
	}
	return p.titleAt(c.BaseURL)
}

// problem makes one about this place.
func (p place) problem(model string, kind ProblemKind, err error) Problem {
	made := Problem{Kind: kind, Err: err, Provider: p.title, Model: model, Setting: "llm.apiKey"}
	if p.env != "" {
		made.Setting = p.env
	}
	made.Say, _ = made.texts("en")
	return made
}
