package host

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"familiar/internal/agent/acp"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/phrase"
)

// fetch reads an address of the bot, with a bearer when it is not "".
func (r *rig) fetch(url, bearer string) (status int, body string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func token() string { return strings.Repeat("t", 64) }

// AF-184: metrics are a path like any other that there is not, until they are on; then they are where they were put.
func TestWhereMetricsAre(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*config.Config)
		want map[string]int
	}{
		"AF-184 off": {func(*config.Config) {}, map[string]int{"/metrics": 404, "/m": 404}},
		"AF-184 on":  {func(c *config.Config) { c.Metrics.Enabled = true }, map[string]int{"/metrics": 200, "/m": 404}},
		"AF-184 at a path of their own": {func(c *config.Config) { c.Metrics.Enabled, c.Metrics.Path = true, "/m" },
			map[string]int{"/metrics": 404, "/m": 200}},
	} {
		t.Run(name, func(t *testing.T) {
			r := live(t, dir(t), func(cfg *config.Config) {
				c.set(cfg)
				cfg.Health.Enabled, cfg.Health.Port = true, 0
			})
			for path, want := range c.want {
				if status, body := r.fetch(r.probes.url()+path, ""); status != want {
					t.Errorf("the second listener: %s: %d, want %d: %s", path, status, want, body)
				}
				if status, body := r.fetch(r.URL()+path, token()); status != want {
					t.Errorf("%s with the token: %d, want %d: %s", path, status, want, body)
				}
				if want != http.StatusOK {
					continue
				}
				if status, body := r.fetch(r.URL()+path, ""); status != http.StatusUnauthorized {
					t.Errorf("%s without the token: %d: %s", path, status, body)
				}
			}
		})
	}
}

// counts reads the value of one series; 0 when there is none.
func (r *rig) counts(series string) string {
	r.t.Helper()
	status, text := r.fetch(r.URL()+"/metrics", token())
	if status != http.StatusOK {
		r.t.Fatalf("metrics: %d: %s", status, text)
	}
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (.*)$`).FindStringSubmatch(text)
	if m == nil {
		return "0"
	}
	return m[1]
}

// AF-185: sessions that break are counted as failures, and the gauge returns to 0.
func TestWhatIsCounted(t *testing.T) {
	boom := script.Turn{On: "breakfast", Steps: []script.Step{{Panic: "boom"}}}
	hold := make(chan struct{})
	r := live(t, dir(t), func(c *config.Config) {
		c.Metrics.Enabled, c.Audit.Enabled = true, true
		c.Access.RateLimit.Enabled, c.Access.RateLimit.MaxRequestsPerWindow = true, 3
	}, script.Turn{On: "supper", Steps: []script.Step{{Until: hold},
		use("memory-save", map[string]string{"content": "likes tea", "visibility": "private"}),
		use("send-reply", map[string]string{"message": "hi"})}}, boom)
	r.hears(event("dm1", "ann", "breakfast"), chat.Accepted)
	r.says("dm1: " + r.phrase(phrase.Sorry))
	const session = `{app="familiar",platform="net",status="%s",type="message"}`
	check := func(series, want string) {
		t.Helper()
		if got := r.counts(series); got != want {
			t.Errorf("%s is %s, want %s", series, got, want)
		}
	}
	check(`familiar_sessions_total`+fmt.Sprintf(session, "failure"), "1")
	check(`familiar_active_sessions{app="familiar"}`, "0")
	check(`familiar_replies_sent_total{app="familiar",platform="net"}`, "0") // an apology is no reply

	r.hears(event("dm1", "ann", "supper"), chat.Accepted)
	r.until("it runs", func() bool { return r.counts(`familiar_active_sessions{app="familiar"}`) == "1" })
	r.hears(event("dm1", "ann", "/clear"), chat.Accepted)
	check(`familiar_inbox_waiting{app="familiar"}`, "1")
	close(hold)
	r.until("it ended", func() bool { return r.rooms.Load().Running == 0 })
	r.hears(event("dm1", "ann", "too many"), chat.Refused)
	check(`familiar_sessions_total`+fmt.Sprintf(session, "success"), "1")
	check(`familiar_session_duration_seconds_count`+fmt.Sprintf(session, "success"), "1")
	check(`familiar_active_sessions{app="familiar"}`, "0")
	check(`familiar_inbox_waiting{app="familiar"}`, "0")
	check(`familiar_messages_received_total{app="familiar",platform="net"}`, "4")
	check(`familiar_rate_limit_rejections_total{app="familiar",platform="net"}`, "1")
	check(`familiar_replies_sent_total{app="familiar",platform="net"}`, "1")
	check(`familiar_skill_api_calls_total{app="familiar",skill="send-reply",status="success"}`, "1")
	check(`familiar_memory_operations_total{app="familiar",operation="save",visibility="private"}`, "1")
	check(`familiar_audit_entries_total{app="familiar",phase="reply_sent"}`, "1")
	check(`familiar_turn_wait_seconds_count{app="familiar",platform="net"}`, "2")
}

// AF-102: what becomes of a silent agent is counted for the platform of its person.
func TestSilentAgentsAreCounted(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) { c.Metrics.Enabled = true })
	deps, err := r.agentDeps()
	if err != nil {
		t.Fatal(err)
	}
	deps.Idle("net", acp.OutcomeGone)
	if got := r.counts(`familiar_idle_timeout_total{app="familiar",outcome="process_gone",platform="net"}`); got != "1" {
		t.Errorf("counted %s", got)
	}
}

// A skill that somebody removed makes the bot unready, and is told apart by its gauge.
func TestSkillsAreWatched(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) { c.Metrics.Enabled = true })
	r.laid = []string{"kept", "lost"}
	for _, name := range r.laid {
		at := filepath.Join(r.skills(), name)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.skillsThere(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(r.skills(), "lost")); err != nil {
		t.Fatal(err)
	}
	if status, body := r.fetch(r.URL()+"/readyz", ""); status != http.StatusServiceUnavailable || !strings.Contains(body, `{"name":"skills","status":"fail"}`) {
		t.Errorf("ready without a skill: %d: %s", status, body)
	}
	if lost, kept := r.counts(`familiar_skill_readiness{app="familiar",skill="lost"}`), r.counts(`familiar_skill_readiness{app="familiar",skill="kept"}`); lost != "0" || kept != "1" {
		t.Errorf("the gauges are %s and %s", lost, kept)
	}
}
