package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/setting"
)

func quiet() Now {
	none := func(context.Context) (int64, error) { return 0, nil }
	zero := func() int { return 0 }
	return Now{Queue: zero, Agents: zero, Inbox: none, Unknown: none}
}

// fetch returns what a server of metrics would read.
func fetch(t *testing.T, m *Metrics, want int) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != want {
		t.Fatalf("status %d, want %d: %s", w.Code, want, w.Body)
	}
	return w.Body.String()
}

// used is what a bot counts in one of each.
func used() *Metrics {
	m := New("v1", Now{Queue: func() int { return 3 }, Agents: func() int { return 2 },
		Inbox:   func(context.Context) (int64, error) { return 5, nil },
		Unknown: func(context.Context) (int64, error) { return 1, nil }})
	use(m)
	return m
}

func use(m *Metrics) {
	m.SessionBegan()
	m.SessionBegan()
	m.SessionEnded(Session{Platform: "web", Type: "message", OK: true, Took: 3 * time.Second, Waited: 50 * time.Millisecond})
	m.MessageReceived("web")
	m.ReplySent("web")
	m.MemoryOperation("save", "private")
	m.ToolCalled("send-reply", true)
	m.ToolCalled("send-reply", false)
	m.RateLimited("web")
	m.AuditEntry("skill_call")
	m.Ready("git", true)
	m.Ready("rg", false)
	m.IdleTimeout("web", "process_gone")
	m.FilesSent("web", 2)
	m.ReminderSet("web")
	m.ReminderDelivered("web", true)
	m.ReminderCancelled("web")
}

// TestTheTableIsComplete holds the documentation to what a server fetches: every name, its labels, and nothing else.
func TestTheTableIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(familiar_[a-z_]+)` \\|.*\\| ?(.*) \\|$").FindAllStringSubmatch(string(text), -1) {
		told[row[1]] = strings.ReplaceAll(row[2], "`", "")
	}
	series, err := used().registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range series {
		var labels []string
		for _, l := range s.GetMetric()[0].GetLabel() {
			if l.GetName() != "app" {
				labels = append(labels, l.GetName())
			}
		}
		want, there := told[s.GetName()]
		wanted := strings.FieldsFunc(want, func(r rune) bool { return r == ',' || r == ' ' })
		slices.Sort(wanted)
		if !there || !slices.Equal(wanted, labels) {
			t.Errorf("%s has the labels %q; the table says %q", s.GetName(), labels, want)
		}
		delete(told, s.GetName())
	}
	if len(told) > 0 {
		t.Errorf("nothing counts these: %v", told)
	}
}

func TestNamesAndLabels(t *testing.T) {
	got := fetch(t, used(), http.StatusOK)
	for _, want := range []string{
		`familiar_sessions_total{app="familiar",platform="web",status="success",type="message"} 1`,
		`familiar_session_duration_seconds_bucket{app="familiar",platform="web",status="success",type="message",le="1"} 0`,
		`familiar_session_duration_seconds_bucket{app="familiar",platform="web",status="success",type="message",le="5"} 1`,
		`familiar_session_duration_seconds_sum{app="familiar",platform="web",status="success",type="message"} 3`,
		`familiar_turn_wait_seconds_bucket{app="familiar",platform="web",le="0.1"} 1`,
		`familiar_active_sessions{app="familiar"} 1`,
		`familiar_messages_received_total{app="familiar",platform="web"} 1`,
		`familiar_replies_sent_total{app="familiar",platform="web"} 1`,
		`familiar_memory_operations_total{app="familiar",operation="save",visibility="private"} 1`,
		`familiar_skill_api_calls_total{app="familiar",skill="send-reply",status="success"} 1`,
		`familiar_skill_api_calls_total{app="familiar",skill="send-reply",status="error"} 1`,
		`familiar_rate_limit_rejections_total{app="familiar",platform="web"} 1`,
		`familiar_audit_entries_total{app="familiar",phase="skill_call"} 1`,
		`familiar_skill_readiness{app="familiar",skill="git"} 1`,
		`familiar_skill_readiness{app="familiar",skill="rg"} 0`,
		`familiar_idle_timeout_total{app="familiar",outcome="process_gone",platform="web"} 1`,
		`familiar_files_sent_total{app="familiar",platform="web"} 2`,
		`familiar_reminders_set_total{app="familiar",platform="web"} 1`,
		`familiar_reminders_delivered_total{app="familiar",platform="web",status="success"} 1`,
		`familiar_reminders_cancelled_total{app="familiar",platform="web"} 1`,
		`familiar_queue_waiting{app="familiar"} 3`,
		`familiar_agents_alive{app="familiar"} 2`,
		`familiar_inbox_waiting{app="familiar"} 5`,
		`familiar_outbox_unknown{app="familiar"} 1`,
		`familiar_build_info{app="familiar",goversion="`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "#") && (!strings.HasPrefix(line, "familiar_") || !strings.Contains(line, `app="familiar"`)) {
			t.Errorf("not ours by its name and label: %s", line)
		}
	}
}

// TestBuckets holds the bounds that dashboards of the table rely on.
func TestBuckets(t *testing.T) {
	var bounds []string
	for line := range strings.Lines(fetch(t, used(), http.StatusOK)) {
		if strings.HasPrefix(line, "familiar_session_duration_seconds_bucket") {
			_, rest, _ := strings.Cut(line, `le="`)
			bound, _, _ := strings.Cut(rest, `"`)
			bounds = append(bounds, bound)
		}
	}
	if want := []string{"1", "5", "10", "30", "60", "120", "300", "600", "+Inf"}; !slices.Equal(bounds, want) {
		t.Errorf("buckets %q, want %q", bounds, want)
	}
}

// TestPromtool asks the program that operators would ask.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is missing; it comes with the package prometheus: ", err)
	}
	cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(fetch(t, used(), http.StatusOK))
	if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("promtool: %v\n%s", err, said)
	}
}

func TestLabelsAreBounded(t *testing.T) {
	m := New("v1", quiet())
	for i := range 1000 {
		m.ToolCalled(fmt.Sprint("tool-", i), true)
	}
	m.MessageReceived("\xff" + strings.Repeat("x", 1000))
	got := fetch(t, m, http.StatusOK)
	if n := strings.Count(got, "familiar_skill_api_calls_total{"); n != maxValues+1 {
		t.Errorf("%d series, want %d", n, maxValues+1)
	}
	if want := fmt.Sprintf(`skill="other",status="success"} %d`, 1000-maxValues); !strings.Contains(got, want) {
		t.Errorf("there is no %s in\n%s", want, got)
	}
	if want := `platform="` + strings.Repeat("x", maxValue-1) + `"`; !strings.Contains(got, want) {
		t.Errorf("there is no %s in\n%s", want, got)
	}
}

func TestAReadingThatFails(t *testing.T) {
	now := quiet()
	now.Inbox = func(context.Context) (int64, error) { return 0, errors.New("the disk is gone") }
	fetch(t, New("v1", now), http.StatusInternalServerError)
}

func TestOffCostsNothing(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() { use(nil) }); n != 0 {
		t.Errorf("%v allocations for nothing", n)
	}
}

func TestConfig(t *testing.T) {
	for path, good := range map[string]bool{"/metrics": true, "/m": true, "/a/b-c": true, "": false, "metrics": false, "/": false,
		"/a/": false, "/a b": false, "/{x}": false, "/../x": false, "/livez": false, "/v1/x": false, "/webhook/x": false} {
		c, r := Config{Path: path}, new(setting.Report)
		c.Check(r)
		if got := len(r.Problems()) == 0; got != good {
			t.Errorf("%q is good: %v", path, got)
		}
	}
}
