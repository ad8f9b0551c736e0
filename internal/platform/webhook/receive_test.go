package webhook

import (
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/inbox"
	"familiar/internal/secret"
	"familiar/internal/setting"
	"familiar/internal/sqlite"
)

const hello = `{"chatId":"c1","userId":"u1","text":"hi","messageId":"m1"}`

// hearing runs the platform with an inbox behind it, and returns what was heard.
func hearing(t *testing.T, w *Webhook, db *sqlite.DB, turn func(chat.Event) chat.Outcome) (heard func() []chat.Event) {
	t.Helper()
	box, err := inbox.Open(t.Context(), db, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []chat.Event
	hear := func(ctx context.Context, ev chat.Event) chat.Outcome {
		if outcome := turn(ev); outcome != chat.Accepted {
			return outcome
		}
		fresh, err := box.Accept(ctx, ev)
		if err != nil {
			t.Error(err)
			return chat.Busy
		}
		if !fresh {
			return chat.Repeat
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, ev)
		return chat.Accepted
	}
	ctx, cancel := context.WithCancel(t.Context())
	up, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- w.Run(ctx, hear, func() { close(up) }) }()
	<-up
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func() []chat.Event { mu.Lock(); defer mu.Unlock(); return all }
}

func accept(chat.Event) chat.Outcome { return chat.Accepted }

// The example of the specification: this secret, second and body give this signature.
func TestSignature(t *testing.T) {
	got := hex.EncodeToString(sign([]byte("s3cret"), "1700000000", []byte(hello)))
	if want := "9425586d4bb1e51080ee53193310dabea4741b4d2ac0d113558819813653724e"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWhatIsRefused(t *testing.T) {
	l := open(t, file(t), config(""))
	heard := hearing(t, l.Webhook, l.db, accept)
	now := time.Now()
	with := func(name, value string) *http.Request {
		r := signed(hello, now)
		r.Header.Set(name, value)
		return r
	}
	without := func(name string) *http.Request {
		r := signed(hello, now)
		r.Header.Del(name)
		return r
	}
	other := signed(hello, now)
	other.Body = io.NopCloser(strings.NewReader(strings.Replace(hello, "hi", "ho", 1)))
	twice := signed(hello, now)
	twice.Header.Add(headerSignature, strings.Repeat("0", 64))
	large := signed(`{"text":"`+strings.Repeat("x", maxBody)+`"}`, now)
	endless := signed("", now)
	endless.Body, endless.ContentLength = io.NopCloser(io.LimitReader(zeros{}, 500<<20)), -1
	unproven := httptest.NewRequest(http.MethodPost, Path, io.LimitReader(zeros{}, 500<<20))
	unproven.ContentLength = 500 << 20
	for name, c := range map[string]struct {
		r      *http.Request
		status int
	}{
		"no timestamp":                       {without(headerTime), 401},
		"no signature":                       {without(headerSignature), 401},
		"a timestamp that is none":           {with(headerTime, "now"), 401},
		"another timestamp":                  {with(headerTime, "1700000000"), 401},
		"a signature that is no hex":         {with(headerSignature, strings.Repeat("g", 64)), 401},
		"a short signature":                  {with(headerSignature, "00"), 401},
		"a wrong signature":                  {with(headerSignature, strings.Repeat("0", 64)), 401},
		"two signatures":                     {twice, 401},
		"a replay of what was signed before": {signed(hello, now.Add(-drift-2*time.Second)), 401},
		"a clock that is ahead":              {signed(hello, now.Add(drift+2*time.Second)), 401},
		"another body":                       {other, 401},
		"too much":                           {large, 413},
		"BUG-K09 too much, length unknown":   {endless, 413},
		"BUG-K09 500 MB, nothing signed":     {unproven, 413},
		"no JSON":                            {signed("hello", now), 400},
		"no object":                          {signed("[]", now), 400},
		"another method":                     {httptest.NewRequest(http.MethodGet, Path, nil), 405},
	} {
		if rw := answers(l.Webhook, c.r); rw.Code != c.status || c.status != 405 && !strings.HasPrefix(rw.Body.String(), `{"error":"`) {
			t.Errorf("%s: %d %s, want %d", name, rw.Code, rw.Body, c.status)
		}
	}
	if len(heard()) != 0 {
		t.Errorf("heard %v", heard())
	}
	for _, ago := range []time.Duration{-drift + 5*time.Second, drift - 5*time.Second} {
		if rw := answers(l.Webhook, signed(hello, now.Add(-ago))); rw.Code != http.StatusAccepted {
			t.Errorf("%s ago: %d %s", ago, rw.Code, rw.Body)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A message that comes again, as it was or signed anew, is answered and not heard; neither after a restart.
func TestADuplicateIsAnswered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "familiar.db")
	l := open(t, path, config(""))
	t.Run("before", func(t *testing.T) {
		heard := hearing(t, l.Webhook, l.db, accept)
		for i, want := range []string{`{"accepted":true}`, `{"accepted":true,"duplicate":true}`, `{"accepted":true,"duplicate":true}`} {
			r := signed(hello, time.Now().Add(-time.Duration(i/2)*time.Minute))
			if rw := answers(l.Webhook, r); rw.Code != 202 || strings.TrimSpace(rw.Body.String()) != want {
				t.Errorf("%d: %d %s, want %s", i, rw.Code, rw.Body, want)
			}
		}
		if len(heard()) != 1 {
			t.Errorf("heard %v", heard())
		}
	})
	l.end()
	l = open(t, path, config(""))
	heard := hearing(t, l.Webhook, l.db, accept)
	if rw := answers(l.Webhook, signed(hello, time.Now())); !strings.Contains(rw.Body.String(), `"duplicate":true`) || len(heard()) != 0 {
		t.Errorf("after a restart: %d %s, heard %v", rw.Code, rw.Body, heard())
	}
}

func TestOutcomes(t *testing.T) {
	outcome := chat.Busy
	l := open(t, file(t), config(""))
	hearing(t, l.Webhook, l.db, func(chat.Event) chat.Outcome { return outcome })
	rw := answers(l.Webhook, signed(hello, time.Now()))
	if rw.Code != http.StatusServiceUnavailable || rw.Header().Get("Retry-After") == "" {
		t.Errorf("busy: %d %s %v", rw.Code, rw.Body, rw.Header())
	}
	for _, outcome = range []chat.Outcome{chat.Ignored, chat.Refused} {
		if rw := answers(l.Webhook, signed(hello, time.Now())); rw.Code != 202 || strings.TrimSpace(rw.Body.String()) != `{"accepted":false}` {
			t.Errorf("%v: %d %s", outcome, rw.Code, rw.Body)
		}
	}
}

// BUG-J03: without a secret there is no platform, and the configuration says why.
func TestNoSecretNoPlatform(t *testing.T) {
	cfg := config("https://h/x")
	cfg.Secret = secret.Value{}
	var r setting.Report
	cfg.Check(r.At("platforms.webhook"))
	if p := r.Problems(); len(p) != 1 || p[0].Path != "platforms.webhook.secret" || p[0].Severity != setting.Fatal {
		t.Errorf("problems %+v", p)
	}
	db, err := sqlite.Open(t.Context(), file(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing was written
	if w, err := New(t.Context(), db, cfg, Deps{}); err == nil || w != nil {
		t.Error("it was made all the same")
	}
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		key    string
		fatal  bool
	}{
		"nothing wrong":         {func(*Config) {}, "", false},
		"off is not looked at":  {func(c *Config) { *c = Config{} }, "", false},
		"a secret to guess":     {func(c *Config) { c.Secret = secret.New("short") }, "secret", false},
		"no address":            {func(c *Config) { c.ReplyURL = "" }, "replyUrl", false},
		"another scheme":        {func(c *Config) { c.ReplyURL = "file:///x" }, "replyUrl", true},
		"no host":               {func(c *Config) { c.ReplyURL = "http:///x" }, "replyUrl", true},
		"a password":            {func(c *Config) { c.ReplyURL = "https://a:b@h/" }, "replyUrl", true},
		"in the clear":          {func(c *Config) { c.ReplyURL = "http://h.example/" }, "replyUrl", false},
		"our own header":        {func(c *Config) { c.Headers = map[string]string{"x-familiar-signature": "1"} }, "headers", true},
		"a header of two lines": {func(c *Config) { c.Headers = map[string]string{"A": "1\r\nB: 2"} }, "headers", true},
		"no header name":        {func(c *Config) { c.Headers = map[string]string{"A b": "1"} }, "headers", true},
		"another format":        {func(c *Config) { c.Format = "html" }, "format", true},
		"another action":        {func(c *Config) { c.Actions = []string{"dance"} }, "actions", true},
		"no attempts":           {func(c *Config) { c.MaxAttempts = 0 }, "maxAttempts", false},
	} {
		cfg := config("http://127.0.0.1:1/x")
		c.change(&cfg)
		var r setting.Report
		cfg.Check(&r)
		p := r.Problems()
		if c.key == "" && len(p) > 0 || c.key != "" && (len(p) != 1 || p[0].Path != c.key || (p[0].Severity == setting.Fatal) != c.fatal) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// One chat's events are heard one after another, those of others at the same time.
func TestLanes(t *testing.T) {
	var l lanes
	leave := l.enter("a")
	l.enter("b")()
	entered := make(chan func())
	go func() { entered <- l.enter("a") }()
	until(t, "the second waits", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return l.all["a"].users == 2 })
	select {
	case <-entered:
		t.Error("two are in one lane")
	default:
	}
	leave()
	(<-entered)()
	if len(l.all) != 0 {
		t.Errorf("%d lanes are left", len(l.all))
	}
}
