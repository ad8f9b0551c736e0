package toolserver

import (
	"context"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"testing"

	"familiar/internal/setting"
	"familiar/internal/tool"
)

var sessionForm = regexp.MustCompile(`^sess_[0-9a-z]+_[0-9a-f]{32}$`)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestTakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	cfg := Defaults()
	cfg.Port = taken.Addr().(*net.TCPAddr).Port
	s := New(cfg, quiet())
	defer s.Close()
	if err := s.Listen(t.Context()); err == nil || !strings.Contains(err.Error(), "skillApi.port") {
		t.Fatalf("a configured port that is taken: %v", err)
	}

	// Whether or not somebody else has the default port, two servers get two addresses.
	first, second := New(Defaults(), quiet()), New(Defaults(), quiet())
	defer first.Close()
	defer second.Close()
	for _, s := range []*Server{first, second} {
		if err := s.Listen(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if first.URL() == second.URL() || !strings.HasPrefix(second.URL(), "http://127.0.0.1:") {
		t.Fatalf("%s and %s", first.URL(), second.URL())
	}
}

func TestOff(t *testing.T) {
	cfg := Defaults()
	cfg.Enabled = false
	s := New(cfg, quiet())
	if err := s.Listen(t.Context()); err != nil || s.URL() != "" {
		t.Fatalf("%v, %q", err, s.URL())
	}
	if _, err := s.Admit(tool.NewBox(nil).Seat("sess_1_a", nil, nil)); err == nil || !strings.Contains(err.Error(), "skillApi.enabled") {
		t.Fatalf("admitted: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Serve(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		key    string
		fatal  bool
	}{
		{"defaults", func(*Config) {}, "", false},
		{"IPv6 loopback", func(c *Config) { c.Host = "::1" }, "", false},
		{"every address", func(c *Config) { c.Host = "0.0.0.0" }, "skillApi.host", true},
		{"no address", func(c *Config) { c.Host = "" }, "skillApi.host", true},
		{"a name", func(c *Config) { c.Host = "example.org" }, "skillApi.host", true},
		{"no port", func(c *Config) { c.Port = 70000 }, "skillApi.port", true},
		{"no time", func(c *Config) { c.SessionTimeoutMs = -1 }, "skillApi.sessionTimeoutMs", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, report := Defaults(), &setting.Report{}
			c.change(&cfg)
			cfg.Check(report.At("skillApi"))
			found := report.Problems()
			if c.key == "" {
				if len(found) != 0 {
					t.Fatalf("%+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Path != c.key || (found[0].Severity == setting.Fatal) != c.fatal {
				t.Fatalf("%+v", found)
			}
		})
	}
	cfg := Defaults()
	cfg.Host = "0.0.0.0"
	if err := New(cfg, quiet()).Listen(t.Context()); err == nil {
		t.Fatal("listens on every address")
	}
}

// A server that leaves lets the calls that run finish, and nobody in any more.
func TestLeave(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	got := make(chan answer, 1)
	go func() { got <- s.call("waits", `{}`) }()
	<-r.entered
	r.stop()
	until(t, func() bool { // the listener is closed, the call still runs
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.SkillURL, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	close(r.release)
	want(t, <-got, 200)
	until(t, func() bool { r.Server.mu.Lock(); defer r.Server.mu.Unlock(); return r.left })
	if _, err := r.Admit(r.box.Seat("sess_2_b", nil, nil)); err == nil {
		t.Fatal("admitted after the end")
	}
}
