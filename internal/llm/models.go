package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Models returns the ids of the models that the section's provider offers, in the order in which it lists them.
// Errors are Problems, ErrNone, or the cause for which ctx ended.
func Models(ctx context.Context, c Config, d Deps) ([]string, error) {
	c, err := c.placed(d)
	if err != nil {
		return nil, err
	}
	where, err := at(c.Provider, c.BaseURL, c.APIKey, d.env)
	if err != nil {
		return nil, err
	}
	return newClient(where, c, d).models(ctx)
}

// Pick returns the section with a provider and a model in it: what is configured stays, the rest is found. It asks the
// provider for its models only when none is named. A Problem of kind NoModel means that a person must choose.
func Pick(ctx context.Context, c Config, d Deps) (Config, error) {
	c, err := c.placed(d)
	if err != nil || strings.TrimSpace(c.Model) != "" {
		return c, err
	}
	listed, err := Models(ctx, c, d)
	if err != nil {
		return c, err
	}
	model, ok := Prefer(c.Provider, listed)
	if !ok && c.Provider == compatible && len(listed) == 1 { // a server of one model leaves no choice
		model, ok = listed[0], true
	}
	if !ok {
		where, err := at(c.Provider, c.BaseURL, c.APIKey, d.env)
		if err != nil {
			return c, err
		}
		return c, where.problem("", NoModel, fmt.Errorf("none of the %d models that are listed is one that we know", len(listed)))
	}
	c.Model = model
	return c, nil
}

// maxList is how long a list of models may be, in bytes; the longest that we know of has half a MiB.
const maxList = 8 << 20

func (c *client) models(ctx context.Context) ([]string, error) {
	address := c.base + "/models"
	if c.speaks == messages {
		address = c.base + "/v1/models?limit=1000"
	}
	w, end := c.wire(ctx, Question{})
	defer end()
	req, err := http.NewRequestWithContext(w.ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, c.problem(c.model, Unreached, errors.New("llm.baseUrl is not an address"))
	}
	c.sign(req)
	req.Header.Set("Accept", "application/json")
	resp, err := w.Do(req)
	if err != nil {
		return nil, w.fault(err)
	}
	defer resp.Body.Close()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(&list); err != nil {
		return nil, w.fault(c.problem(c.model, Broken, fmt.Errorf("read the list of models: %w", noWords(err))))
	}
	names := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		names = append(names, strings.TrimPrefix(m.ID, "models/")) // Gemini puts that before each
	}
	return names, nil
}

// sign puts the key into the headers, where it belongs: an address travels through logs.
func (c *client) sign(req *http.Request) {
	if c.speaks == messages {
		req.Header.Set("anthropic-version", anthropicVersion)
		if c.key.Set() {
			req.Header.Set("x-api-key", c.key.Reveal())
		}
		return
	}
	if c.key.Set() {
		req.Header.Set("Authorization", "Bearer "+c.key.Reveal())
	}
}
