package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	// skillTimeout is how long one call may take, all of it.
	skillTimeout = 30 * time.Second
	// defaultSkillAPI is where the skill API is, when the environment says nothing.
	defaultSkillAPI = "http://localhost:3001"
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 4 << 20
)

// skillCall is one call of the skill API.
type skillCall struct {
	api, session, name string
	params             map[string]json.RawMessage
	timeout            time.Duration
}

// skillAnswer is what the skill API says; see the contract of POST /api/skill/NAME.
type skillAnswer struct {
	Success    bool            `json:"success"`
	Data       json.RawMessage `json:"data,omitempty"`
	Error      string          `json:"error,omitempty"`
	StatusCode int             `json:"statusCode,omitempty"`
}

// do makes the call. When no answer came, the answer says why.
func (c skillCall) do(ctx context.Context) skillAnswer {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	a, err := c.ask(ctx)
	switch {
	case err == nil:
		return a
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return skillAnswer{Error: fmt.Sprintf("no answer from %s within %v; whether %s took effect is not known", c.api, c.timeout, c.name)}
	}
	return skillAnswer{Error: fmt.Sprintf("%s could not be called at %s: %v", c.name, c.api, err)}
}

func (c skillCall) ask(ctx context.Context) (skillAnswer, error) {
	body, err := json.Marshal(struct {
		SessionID  string                     `json:"sessionId"`
		Parameters map[string]json.RawMessage `json:"parameters"`
	}{c.session, c.params})
	if err != nil {
		return skillAnswer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.api+"/api/skill/"+c.name, bytes.NewReader(body))
	if err != nil {
		return skillAnswer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("SKILL_API_TOKEN"); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := loopbackClient().Do(req)
	if err != nil {
		return skillAnswer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return skillAnswer{}, err
	}
	var a skillAnswer
	if err := json.Unmarshal(raw, &a); err != nil {
		return skillAnswer{}, fmt.Errorf("status %d with an answer that is not of a skill API", res.StatusCode)
	}
	a.Success = a.Success && res.StatusCode == http.StatusOK
	return a, nil
}

// loopbackClient follows no redirect and uses no proxy, since the request holds the session's token; it dials
// «localhost» without a look into files or name servers that a confined process may not have.
func loopbackClient() *http.Client {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		if !strings.EqualFold(host, "localhost") {
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("::1", port))
		}
		return conn, nil
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// skillAPI checks the address of the skill API, wherever it came from: it is on this machine, or it is refused.
func skillAPI(given string) (string, error) {
	refused := usageError{Code: codeUsage, Say: fmt.Sprintf("%q is not an address of the skill API; it is http on a loopback address, such as %s", given, defaultSkillAPI)}
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return "", refused
	}
	ip := net.ParseIP(u.Hostname())
	if !strings.EqualFold(u.Hostname(), "localhost") && (ip == nil || !ip.IsLoopback()) {
		return "", refused
	}
	return "http://" + u.Host, nil
}
