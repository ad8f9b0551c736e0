package host

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/config"
	"familiar/internal/secret"
)

const hookSecret = "a secret of the hook"

// hooked is a bot with a webhook, and its other side.
type hooked struct {
	*rig
	far *httptest.Server

	mu     sync.Mutex
	texts  []string
	refuse bool
}

func liveHook(t *testing.T, turns ...script.Turn) *hooked {
	h := &hooked{}
	h.far = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var body struct{ ChatID, UserID, ReplyTo, Text string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.refuse {
			rw.WriteHeader(http.StatusGone)
			return
		}
		h.texts = append(h.texts, fmt.Sprint(body.ChatID, " ", body.UserID, " ", body.ReplyTo, ": ", body.Text))
	}))
	t.Cleanup(h.far.Close) // after the bot has ended
	h.rig = live(t, dir(t), func(c *config.Config) {
		w := &c.Platforms.Webhook
		w.Enabled, w.Secret, w.ReplyURL = true, secret.New(hookSecret), h.far.URL
		c.Bot.Owner = map[string]config.IDs{"webhook": {"boss"}}
	}, turns...)
	return h
}

// posts sends a body, signed, and returns the answer.
func (h *hooked) posts(body string) string {
	h.t.Helper()
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(hookSecret))
	fmt.Fprintf(mac, "%s.%s", timestamp, body)
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.URL()+"/webhook/generic", bytes.NewBufferString(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("X-Familiar-Timestamp", timestamp)
	req.Header.Set("X-Familiar-Signature", hex.EncodeToString(mac.Sum(nil)))
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return fmt.Sprint(res.StatusCode, " ", strings.TrimSpace(string(answer)))
}

func (h *hooked) told() string { h.mu.Lock(); defer h.mu.Unlock(); return strings.Join(h.texts, "|") }

// BUG-C06: the answer to a post does not wait for the agent, and a sender that tries again is not answered twice.
func TestAWebhookDoesNotWait(t *testing.T) {
	h := liveHook(t, script.Turn{On: "slow", Steps: []script.Step{{Wait: true}}}, reply("here"))
	slow := `{"chatId":"c1","userId":"ann","messageId":"m1","text":"slow"}`
	if got := h.posts(slow); got != `202 {"accepted":true}` {
		t.Fatal(got)
	}
	h.until("it thinks", func() bool { return h.rooms.Load().Running == 1 })
	if got := h.posts(slow); got != `202 {"accepted":true,"duplicate":true}` {
		t.Error(got)
	}
	if got := h.posts(`{"chatId":"c1","userId":"ann","messageId":"m2","text":"/stop"}`); got != `202 {"accepted":true}` {
		t.Error(got)
	}
	h.until("it stopped", func() bool { return h.rooms.Load().Running == 0 && strings.Contains(h.told(), "c1 ann m2: ") })
	if got := h.posts(`{"chatId":"c2","userId":"ben","messageId":"m1","text":"quick"}`); got != `202 {"accepted":true}` {
		t.Error(got)
	}
	h.until("the other was answered", func() bool { return strings.Contains(h.told(), "c2 ben m1: here") })
}

// BUG-J12: ids and names that look like paths lead nowhere.
func TestAWebhookWritesNowhereElse(t *testing.T) {
	h := liveHook(t, reply("got it"))
	if got := h.posts(`{"chatId":"../c","userId":"../../u","messageId":"../a","text":"see","attachments":[{"name":"..\\..\\x","mimeType":"text/plain"},{"name":"../../y"}]}`); got != `202 {"accepted":true}` {
		t.Fatal(got)
	}
	h.until("it was answered", func() bool { return h.told() == "../c ../../u ../a: got it" && h.rooms.Load().Running == 0 })
	if p := h.agent.prompt(0); !strings.Contains(p, "📎 x (text/plain)") || !strings.Contains(p, "📎 y") {
		t.Error("the agent was told other names:", p)
	}
	root := h.Instance.Dir
	allowed := map[string]bool{filepath.Base(root): true}
	err := filepath.WalkDir(filepath.Dir(root), func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(filepath.Dir(root), path) // both are absolute
		if rel != "." && !allowed[strings.Split(rel, string(filepath.Separator))[0]] {
			t.Errorf("%s was made outside of the bot", path)
		}
		if name := d.Name(); name == "x" || name == "y" || name == "a" || name == "u" && !strings.Contains(rel, "workspaces") {
			t.Errorf("%s was made", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What the other side refused is listed for the owner, and goes out again at a word of theirs.
func TestTheOwnerRedelivers(t *testing.T) {
	h := liveHook(t, reply("for nobody"))
	h.refuse = true
	h.posts(`{"chatId":"c1","userId":"ann","messageId":"m1","text":"hello"}`)
	h.until("it is dead", func() bool {
		s, err := h.webhook.Stand(t.Context())
		return err == nil && s.Dead == 1
	})
	h.mu.Lock()
	h.refuse = false
	h.mu.Unlock()
	for i, command := range []string{"/deadletters", "/redeliver", "/redeliver b_1", "/redeliver all", "/status"} {
		h.posts(fmt.Sprintf(`{"chatId":"c9","userId":"boss","messageId":"s%d","text":%q}`, i, command))
	}
	h.until("all is out", func() bool {
		s, err := h.webhook.Stand(t.Context())
		return err == nil && s.Queued == 0 && strings.Contains(h.told(), "boss s4")
	})
	for _, want := range []string{"c1 ann m1: for nobody", "`c1` (1): HTTP 410", "no dead letter `b_1`", "delivered again: 1", "Webhook replies: "} {
		if !strings.Contains(h.told(), want) {
			t.Errorf("%q is not in %s", want, h.told())
		}
	}
	h.posts(`{"chatId":"c1","userId":"ann","messageId":"m9","text":"/deadletters"}`)
	h.until("a stranger was told that it is for the owner", func() bool { return strings.Contains(h.told(), "c1 ann m9: ") })
	if strings.Contains(h.told(), "m9: There are no dead") {
		t.Error("anybody may see the dead letters")
	}
}
