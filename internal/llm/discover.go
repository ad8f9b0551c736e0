package llm

import (
	"context"
	_ "embed"
	"net/http"
	"path"
	"strings"
	"time"

	"familiar/internal/secret"
)

// Candidate is a provider that could answer, and how we know.
type Candidate struct {
	Provider string // as Config.Provider takes it
	Title    string // for people
	Key      secret.Value
	From     string // the variable that held the key; "" for a local one
	BaseURL  string // "" for the provider's own
}

// Fill returns a section with this provider in it, and everything else as it was.
func (c Candidate) Fill(section Config) Config {
	section.Provider, section.BaseURL, section.APIKey = c.Provider, c.BaseURL, c.Key
	return section
}

// Discover returns the providers whose keys are in an environment (as os.Environ has it), in the order in which they
// are to be preferred. It looks at nothing else: for a local Ollama see Probe.
func Discover(environ []string) []Candidate {
	var found []Candidate
	for _, p := range providers {
		if p.env == "" {
			continue
		}
		if key := secret.New((Deps{Environ: environ}).env(p.env)); key.Set() {
			found = append(found, Candidate{Provider: p.id, Title: p.title, Key: key, From: p.env})
		}
	}
	return found
}

// probeTime is how long a local Ollama may take to say that it is there.
const probeTime = 300 * time.Millisecond

// Probe asks for an Ollama on this machine and returns it. base is "" for its usual address. It blocks for 300 ms at
// most, so a host calls it when it is ready and not before.
func Probe(ctx context.Context, base string, d Deps) (Candidate, bool) {
	ctx, stop := context.WithTimeout(ctx, probeTime)
	defer stop()
	where, err := at("ollama", base, secret.Value{}, d.env)
	if err != nil {
		return Candidate{}, false
	}
	c := newClient(where, Defaults(), d)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/models", nil)
	if err != nil {
		return Candidate{}, false
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Candidate{}, false
	}
	_ = resp.Body.Close()
	return Candidate{Provider: where.id, Title: where.title, BaseURL: base}, resp.StatusCode == http.StatusOK
}

//go:embed texts/models.txt
var preferences string

// Prefer returns the model to take when nobody chose one: the first of our list for that provider which it lists.
func Prefer(providerID string, listed []string) (string, bool) {
	var part string
	for line := range strings.Lines(preferences) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			part = strings.Trim(line, "[]")
		case part == providerID:
			for _, model := range listed {
				if fits(line, model) {
					return model, true
				}
			}
		}
	}
	return "", false
}

// fits compares without regard to slashes, which path.Match would not let a star pass.
func fits(pattern, model string) bool {
	flat := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(flat.Replace(pattern), flat.Replace(model))
	return err == nil && ok
}
