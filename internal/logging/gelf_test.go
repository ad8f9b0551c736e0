package logging

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/secret"
	"familiar/internal/setting"
)

// strict reads a message as the format has it and nothing else.
func strict(t *testing.T, message []byte) map[string]any {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal(message, &got); err != nil {
		t.Fatalf("%v in %s", err, message)
	}
	for _, name := range []string{"version", "host", "short_message"} {
		if text, ok := got[name].(string); !ok || text == "" {
			t.Errorf("%s is %v in %s", name, got[name], message)
		}
	}
	if at, ok := got["timestamp"].(float64); got["version"] != "1.1" || !ok || at < 1e9 || at > 1e11 {
		t.Errorf("version and timestamp in %s", message)
	}
	field := regexp.MustCompile(`^_[\w.\-]+$`)
	for name, value := range got {
		switch name {
		case "version", "host", "short_message", "timestamp":
			continue
		case "level":
			if n, ok := value.(float64); !ok || n < 0 || n > 7 || n != float64(int(n)) {
				t.Errorf("level %v in %s", value, message)
			}
			continue
		}
		_, text := value.(string)
		_, number := value.(float64)
		if !field.MatchString(name) || name == "_id" || !text && !number {
			t.Errorf("field %s: %v in %s", name, value, message)
		}
	}
	return got
}

// shipping is a logger that ships to endpoint, and what stops it.
func shipping(t *testing.T, cfg GELF) (log *slog.Logger, errs *bytes.Buffer, stop func()) {
	t.Helper()
	cfg.Enabled, cfg.Hostname = true, "bot-1"
	errs = &bytes.Buffer{}
	s, err := NewShipper(cfg, errs)
	if err != nil {
		t.Fatal(err)
	}
	vault := &secret.Vault{}
	vault.Know(secret.New("canary-in-the-vault"))
	log = Shipped(New(Config{Level: "DEBUG"}, io.Discard, io.Discard, false, vault), s)
	ctx, cancel := context.WithCancel(t.Context())
	var ran sync.WaitGroup
	ran.Go(func() { s.Run(ctx) })
	stop = func() {
		cancel()
		ran.Wait()
	}
	t.Cleanup(stop)
	return log, errs, stop
}

// random is text that does not get shorter when it is compressed, and does not look like a key.
func random(n int) string {
	var b strings.Builder
	for i, x := 0, uint32(1); i < n; i++ {
		x = x*1664525 + 1013904223
		b.WriteRune(rune(0x4e00 + x>>16%5000))
	}
	return b.String()
}

func next(t *testing.T, from <-chan []byte) map[string]any {
	t.Helper()
	select {
	case message := <-from:
		return strict(t, message)
	case <-time.After(time.Minute):
		t.Fatal("nothing arrived")
		return nil
	}
}

// AF-191: what arrives, over each protocol, at a receiver that takes nothing but GELF 1.1.
func TestGELF(t *testing.T) {
	for name, open := range receivers {
		t.Run(name, func(t *testing.T) {
			cfg, got := open(t)
			log, errs, stop := shipping(t, cfg)
			log = log.With(moduleKey, "Host")
			log.Info("turn {n} ended", "n", 7, "ok", true, "none", nil, "id", "x", "a b", 1, "took", 1500*time.Millisecond,
				"ratio", 0.5, "list", []int{1, 2}, "module", "Rooms", "password", "canary-1", "say", "canary-in-the-vault")
			m := next(t, got)
			for field, want := range map[string]any{"level": 6.0, "host": "bot-1", "short_message": "turn 7 ended",
				"_messageTemplate": "turn {n} ended", "_module": "Host:Rooms", "_log_level": "INFO", "_n": 7.0, "_ok": "true",
				"_took": "1.5s", "_ratio": 0.5, "_list": "[1,2]", "_password": secret.Masked} {
				if m[field] != want {
					t.Errorf("%s is %v, want %v", field, m[field], want)
				}
			}
			if text := fmt.Sprint(m); strings.Contains(text, "canary") {
				t.Errorf("a secret left: %s", text)
			}
			for _, absent := range []string{"_none", "_id", "_a b"} {
				if v, there := m[absent]; there {
					t.Errorf("%s is there: %v", absent, v)
				}
			}
			for level, want := range map[slog.Level]float64{slog.LevelError: 3, slog.LevelWarn: 4, slog.LevelDebug: 7, Fatal: 2} {
				log.Log(t.Context(), level, "x")
				if m := next(t, got); m["level"] != want {
					t.Errorf("%s is %v, want %v", level, m["level"], want)
				}
			}
			long := random(10_000) // 30,000 bytes
			log.Info(long)
			if m := next(t, got); m["short_message"] != long {
				t.Error("a long message arrived otherwise")
			}
			log.Info("the last words")
			stop()
			if m := next(t, got); m["short_message"] != "the last words" {
				t.Errorf("the last message is %v", m)
			}
			if errs.Len() > 0 {
				t.Error(errs)
			}
		})
	}
}

// A server that was away is gone to again, without a message lost to the connection of before.
func TestTCPConnectsAgain(t *testing.T) {
	l := listenTCP(t)
	log, _, _ := shipping(t, GELF{Protocol: "tcp", Endpoint: l.Addr().String()})
	for i := range 3 {
		log.Info(fmt.Sprint("message ", i))
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		frame, err := bufio.NewReader(conn).ReadBytes(0)
		if err != nil {
			t.Fatal(err)
		}
		if m := strict(t, frame[:len(frame)-1]); m["short_message"] != fmt.Sprint("message ", i) {
			t.Errorf("message %d is %v", i, m)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// AF-191: a server that is down, and one that takes a connection and then nothing, do nothing to the program: lines are
// written everywhere else, the queue stays bounded, and one complaint goes to the standard error stream.
func TestGELFServerDown(t *testing.T) {
	silent := listenTCP(t)
	down := listenTCP(t)
	_ = down.Close()
	for name, endpoint := range map[string]string{"down": down.Addr().String(), "silent": silent.Addr().String()} {
		for _, protocol := range []string{"tcp", "http", "udp"} {
			t.Run(name+" "+protocol, func(t *testing.T) {
				cfg := GELF{Enabled: true, Hostname: "bot", Protocol: protocol, Endpoint: endpoint}
				if protocol == "http" {
					cfg.Endpoint = "http://" + endpoint + "/gelf?key=canary-9"
				}
				errs := &bytes.Buffer{}
				s, err := NewShipper(cfg, errs)
				if err != nil {
					t.Fatal(err)
				}
				var elsewhere bytes.Buffer
				log := Shipped(New(Config{}, &elsewhere, io.Discard, false, nil), s)
				const lines = maxQueue + 100
				for range lines {
					log.Info("a line")
				}
				if lines != strings.Count(elsewhere.String(), "\n") {
					t.Error("lines are missing elsewhere")
				}
				if n := s.lost.Load(); n != 100 {
					t.Errorf("%d lines are lost, not the 100 that the queue does not hold", n)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				s.Run(ctx)
				if text := errs.String(); strings.Count(text, "\n") > 1 || strings.Contains(text, "canary") ||
					name == "down" && protocol != "udp" && !strings.Contains(text, "do not reach") {
					t.Errorf("told: %q", text)
				}
			})
		}
	}
}

// The queue is bounded in bytes too, and nothing that was counted in stays counted.
func TestQueueIsBoundedInBytes(t *testing.T) {
	s, err := NewShipper(GELF{Protocol: "udp", Endpoint: "127.0.0.1:9"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	log := Shipped(New(Config{}, io.Discard, io.Discard, false, nil), s)
	for long := random(10_000); s.lost.Load() == 0; {
		log.Info(long)
	}
	if n := s.queued.Load(); n > maxQueued || n < maxQueued/2 {
		t.Errorf("%d bytes wait", n)
	}
	for len(s.queue) > 0 {
		s.one(t.Context(), <-s.queue)
	}
	if n := s.queued.Load(); n != 0 {
		t.Errorf("%d bytes of nothing", n)
	}
}

func TestTooLongForDatagrams(t *testing.T) {
	parts, err := chunks(make([]byte, maxChunks*(maxDatagram-chunkHead)))
	if err != nil || len(parts) != maxChunks {
		t.Errorf("%d chunks, %v", len(parts), err)
	}
	if _, err := chunks(make([]byte, maxChunks*(maxDatagram-chunkHead)+1)); err == nil {
		t.Error("one byte more was taken")
	}
}

func TestGELFConfig(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*GELF)
		want string
	}{
		"off":               {func(*GELF) {}, ""},
		"nowhere":           {func(g *GELF) { g.Enabled = true }, "gelf.endpoint"},
		"http":              {func(g *GELF) { g.Enabled, g.Endpoint = true, "https://logs.example.org/gelf" }, ""},
		"http without http": {func(g *GELF) { g.Enabled, g.Endpoint = true, "logs.example.org:12201" }, "gelf.endpoint"},
		"udp":               {func(g *GELF) { g.Enabled, g.Protocol, g.Endpoint = true, "udp", "logs.example.org:12201" }, ""},
		"udp without port":  {func(g *GELF) { g.Enabled, g.Protocol, g.Endpoint = true, "udp", "logs.example.org" }, "gelf.endpoint"},
		"another protocol":  {func(g *GELF) { g.Protocol = "amqp" }, "gelf.protocol"},
	} {
		cfg, r := Defaults(), new(setting.Report)
		c.set(&cfg.GELF)
		cfg.Check(r)
		var got []string
		for _, p := range r.Problems() {
			got = append(got, p.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: problems %q, want %q", name, got, c.want)
		}
	}
}

// A shipper that was made and never run ends with its logger: nothing was begun.
func TestShipperSaysWhatIsWrong(t *testing.T) {
	_, err := NewShipper(GELF{Protocol: "tcp", Endpoint: "nowhere"}, io.Discard)
	if err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "host and port") {
		t.Error(err)
	}
}
