package llm

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
)

// Deps is what the clients of providers share.
type Deps struct {
	// Environ is looked through for the keys that the configuration does not hold, in the form of os.Environ.
	Environ []string
	// HTTP carries the requests; nil takes the transport that Go has. Redirects are never followed and no time-out but
	// ours counts, whatever it says: a key would go along, and an answer may take long.
	HTTP *http.Client
	// Log is told when a fallback takes over; nil for nobody.
	Log *slog.Logger
}

func (d Deps) env(name string) string {
	for _, line := range d.Environ {
		if key, value, ok := strings.Cut(line, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// ErrNone means that no provider is configured and none was found.
var ErrNone = errors.New("no model provider is configured: set llm.provider, or a key such as ANTHROPIC_API_KEY")

// Open returns the model that the section describes, with its fallback. It reaches no network. Without a provider it
// takes the first of Discover; the model must be named (see Pick). Errors are Problems, or ErrNone.
func Open(c Config, d Deps) (Model, error) {
	c, err := c.placed(d)
	if err != nil {
		return nil, err
	}
	where, err := at(c.Provider, c.BaseURL, c.APIKey, d.env)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Model) == "" {
		return nil, where.problem("", NoModel, errors.New("llm.model is empty"))
	}
	primary := newClient(where, c, d)
	if c.Fallback.Provider == "" {
		return primary, nil
	}
	f := c.Fallback
	second, err := at(f.Provider, f.BaseURL, f.APIKey, d.env)
	if err != nil {
		return nil, err
	}
	c.Model = f.Model
	log := d.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return Fallback(primary, newClient(second, c, d), log), nil
}

// placed fills in the provider that is found in the environment, when none is configured.
func (c Config) placed(d Deps) (Config, error) {
	if c.Provider != "" {
		return c, nil
	}
	found := Discover(d.Environ)
	if len(found) == 0 {
		return c, ErrNone
	}
	return found[0].Fill(c), nil
}

func newClient(where place, c Config, d Deps) *client {
	made := &client{place: where, model: strings.TrimSpace(c.Model), http: http.Client{Transport: http.DefaultTransport},
		firstByte: c.firstByte(), silence: c.silence(), pause: pause}
	if d.HTTP != nil {
		made.http = *d.HTTP
	}
	made.http.Timeout = 0 // ours are of another kind: see watch
	made.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return made
}
