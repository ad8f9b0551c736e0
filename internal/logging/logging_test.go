package logging

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"time"

	"familiar/internal/chat"
	"familiar/internal/secret"
	"familiar/internal/setting"
)

// rig is a logger and what it wrote.
type rig struct {
	*slog.Logger
	out, err strings.Builder
	vault    secret.Vault
}

func newRig(level string, terminal bool) *rig {
	r := new(rig)
	r.Logger = New(Config{Level: level}, &r.out, &r.err, terminal, &r.vault)
	return r
}

// context returns the context of the one line that was written to out, as JSON.
func (r *rig) context(t *testing.T) string {
	t.Helper()
	var line struct{ Context json.RawMessage }
	if err := json.Unmarshal([]byte(r.out.String()), &line); err != nil {
		t.Fatalf("%s: %v", r.out.String(), err)
	}
	return string(line.Context)
}

func TestALine(t *testing.T) {
	r := newRig("DEBUG", false)
	log := r.With(moduleKey, "Host").With(moduleKey, "Rooms", "a", 1, "b", "derived").WithGroup("g").With("c", true)
	before := time.Now().Add(-time.Second)
	log.Info("turn {a} of {b} ended in {no} {{x}}", "d", "<é>", slog.Group("e", "f", nil))
	var line struct{ Timestamp time.Time }
	if err := json.Unmarshal([]byte(r.out.String()), &line); err != nil || line.Timestamp.Before(before) {
		t.Fatalf("%s: %v", r.out.String(), err)
	}
	_, rest, _ := strings.Cut(r.out.String(), ",")
	const want = `"level":"INFO","module":"Host:Rooms","message":"turn 1 of derived ended in {no} {x}",` +
		`"messageTemplate":"turn {a} of {b} ended in {no} {{x}}",` +
		`"context":{"a":1,"b":"derived","g":{"c":true,"d":"<é>","e":{"f":null}}}}` + "\n"
	if rest != want {
		t.Errorf("the line is\n%swant\n%s", rest, want)
	}
}

func TestTheCallSiteWins(t *testing.T) {
	r := newRig("INFO", false)
	r.With("a", "derived", "b", 1).Info("x", "a", "here")
	if got := r.context(t); got != `{"b":1,"a":"here"}` {
		t.Errorf("context %s", got)
	}
}

type names struct{ First, Token string }

type valuer struct{ v slog.Value }

func (v valuer) LogValue() slog.Value { return v.v }

type panics struct{ n int }

func (p *panics) String() string { return fmt.Sprint(p.n) }

func TestValues(t *testing.T) {
	for name, c := range map[string]struct {
		value slog.Value
		want  string
	}{
		"duration":        {slog.DurationValue(1500 * time.Millisecond), `"1.5s"`},
		"time":            {slog.TimeValue(time.Date(2025, 1, 2, 3, 4, 5, 6e6, time.UTC)), `"2025-01-02T03:04:05.006Z"`},
		"float":           {slog.Float64Value(0.25), `0.25`},
		"unsigned":        {slog.Uint64Value(1 << 63), `9223372036854775808`},
		"error":           {slog.AnyValue(errors.New("no such file")), `"no such file"`},
		"a named string":  {slog.AnyValue(chat.TurnID("turn_1")), `"turn_1"`},
		"a stringer":      {slog.AnyValue(chat.Owner), `"owner"`},
		"a struct":        {slog.AnyValue(names{"Ann", "abc"}), `{"First":"Ann","Token":"[REDACTED]"}`},
		"a secret":        {slog.AnyValue(secret.New("swordfish-99")), `"…"`},
		"a valuer":        {slog.AnyValue(valuer{slog.GroupValue(slog.String("token", "abc"), slog.Int("n", 1))}), `{"token":"[REDACTED]","n":1}`},
		"a list":          {slog.AnyValue([]string{"a", "Bearer abc"}), `["a","Bearer [REDACTED]"]`},
		"what cannot be":  {slog.AnyValue(func() {}), ""},
		"what panics":     {slog.AnyValue((*panics)(nil)), `"a value that panics: *logging.panics"`},
		"an empty group":  {slog.GroupValue(), ""},
		"an event's text": {slog.AnyValue(chat.Said{Text: "my heart"}), `{"text":"[8 characters]"}`},
	} {
		r := newRig("INFO", false)
		r.Info("x", "a", 1, "v", c.value)
		got := r.context(t)
		if want := `{"a":1,"v":` + c.want + `}`; c.want != "" && got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// AF-189, as answered for us: by level where it is no terminal, all to stderr on one.
func TestWhereLinesGo(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		r := newRig("DEBUG", terminal)
		r.Debug("one")
		r.Warn("two")
		r.Error("three")
		r.Log(t.Context(), Fatal, "four")
		low, high := r.out.String(), r.err.String()
		if terminal {
			if low != "" || strings.Count(high, "\n") != 4 || !strings.Contains(high, "FTL") {
				t.Errorf("on a terminal: %q, %q", low, high)
			}
			continue
		}
		for _, word := range []string{`"DEBUG"`, `"one"`, `"WARN"`, `"two"`} {
			if !strings.Contains(low, word) {
				t.Errorf("stdout lacks %s: %s", word, low)
			}
		}
		for _, word := range []string{`"ERROR"`, `"three"`, `"FATAL"`, `"four"`} {
			if !strings.Contains(high, word) {
				t.Errorf("stderr lacks %s: %s", word, high)
			}
		}
		if strings.Count(low, "\n") != 2 || strings.Count(high, "\n") != 2 {
			t.Errorf("stdout %q, stderr %q", low, high)
		}
	}
}

func TestTerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	r := newRig("INFO", true)
	r.With(moduleKey, "Host").Info("said \x1b[31mred {who}", "who", "ann", "token", "abc", "v", []int{1},
		"took", 60871054*time.Nanosecond, "late", -83*time.Hour, slog.Group("g", "n", 1, "at", 7*time.Nanosecond))
	_, line, _ := strings.Cut(r.err.String(), " ")
	if line != "INF Host: said \ufffd[31mred ann who=ann token=[REDACTED] v=[1] took=60.9ms late=-83h0m0s g.n=1 g.at=7ns\n" {
		t.Errorf("the line is %q", line)
	}
}

// AF-26
func TestLevels(t *testing.T) {
	for level, want := range map[string]int{"DEBUG": 5, "INFO": 4, "warn": 3, "ERROR": 2, "FATAL": 1, "loud": 4, "": 4} {
		r := newRig(level, false)
		for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError, Fatal} {
			r.Log(t.Context(), l, "x")
		}
		if got := strings.Count(r.out.String()+r.err.String(), "\n"); got != want {
			t.Errorf("%q: %d lines, want %d", level, got, want)
		}
		cfg := Defaults()
		cfg.Level = level
		var report setting.Report
		cfg.Check(report.At("logging"))
		wrong := level == "loud" || level == ""
		if wrong != (len(report.Problems()) == 1) || wrong && cfg.Level != "INFO" {
			t.Errorf("%q became %q with %v", level, cfg.Level, report.Problems())
		}
		for _, p := range report.Problems() {
			if p.Severity != setting.Warning {
				t.Errorf("%q stops the start: %v", level, p)
			}
		}
	}
}

// The standard library's own conditions for a handler.
func TestSlogConditions(t *testing.T) {
	var r *rig
	slogtest.Run(t, func(*testing.T) slog.Handler {
		r = newRig("INFO", false)
		return r.Handler()
	}, func(t *testing.T) map[string]any {
		var line struct {
			Timestamp, Level, Message string
			Context                   map[string]any
		}
		if err := json.Unmarshal([]byte(r.out.String()), &line); err != nil {
			t.Fatal(err)
		}
		result := map[string]any{slog.LevelKey: line.Level, slog.MessageKey: line.Message}
		if line.Timestamp != "" {
			result[slog.TimeKey] = line.Timestamp
		}
		for key, value := range line.Context {
			result[key] = value
		}
		return result
	})
}

func TestManyWriteAtOnce(t *testing.T) {
	r := newRig("INFO", false)
	var wait sync.WaitGroup
	for n := range 8 {
		wait.Go(func() {
			log := r.With("n", n)
			for range 50 {
				log.Info("x", "token", "abc")
			}
		})
	}
	wait.Wait()
	for line := range strings.Lines(r.out.String()) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("a broken line: %s", line)
		}
	}
	if got := strings.Count(r.out.String(), "\n"); got != 400 {
		t.Errorf("%d lines", got)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "familiar.log")
	file, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := newRig("INFO", false)
	log := Also(r.Logger.With("a", 1), file)
	log.Info("one")
	log.Error("two", "token", "abc")
	data, err := os.ReadFile(path)
	if err != nil || string(data) != r.out.String()+r.err.String() || strings.Contains(string(data), "abc") {
		t.Errorf("the file holds %s, %v", data, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// Another level counts at once, for loggers that were derived before too.
func TestReload(t *testing.T) {
	r := newRig("INFO", false)
	derived := r.With("module", "A")
	derived.Debug("unheard")
	Reload(r.Logger, Config{Level: "DEBUG"})
	derived.Debug("heard")
	Reload(r.Logger, Config{Level: "ERROR"})
	derived.Info("unheard")
	if got := strings.Count(r.out.String()+r.err.String(), "\n"); got != 1 || !strings.Contains(r.out.String(), `"heard"`) {
		t.Errorf("got %s%s", r.out.String(), r.err.String())
	}
}
