package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/pairing"
	"familiar/internal/phrase"
)

// closed is a bot that hears its owner alone, and gives strangers a code.
func closed(c *config.Config) {
	c.Access.ReplyPolicy, c.Access.Pairing = "channels", true
	c.Bot.Owner = map[string]config.IDs{"net": {"boss"}}
}

var codeForm = regexp.MustCompile("`([2-9A-Z]{4}-[2-9A-Z]{4})`")

// code waits for the nth message on the network and reads the code in it.
func (r *rig) code(n int) string {
	r.t.Helper()
	r.until("a code is told", func() bool { return len(r.net.said()) >= n })
	found := codeForm.FindStringSubmatch(r.net.said()[n-1])
	if found == nil {
		r.t.Fatalf("no code in %q", r.net.said()[n-1])
	}
	return found[1]
}

func TestAStrangerIsAdmitted(t *testing.T) {
	d := dir(t)
	r := live(t, d, closed, reply("hi"))
	r.hears(event("dm1", "ann", "let me in"), chat.Refused)
	code := r.code(1)
	offer := "dm1: " + r.phrases.Say(phrase.PairingOffer, code, 60)
	r.hears(event("dm1", "ann", "please"), chat.Refused)
	r.hears(event("dm1", "ann", "/pair "+code), chat.Refused) // who has the code is not who may use it
	r.says(offer)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}

	r = live(t, d, closed, reply("hi")) // the code outlives a restart
	r.hears(event("dm1", "ann", "please"), chat.Refused)
	r.hears(event("dm9", "boss", "/pair AAAA-AAAA"), chat.Accepted)
	r.hears(event("dm9", "boss", "/pair "+code), chat.Accepted)
	ann := "ANN `net/ann`"
	r.says("dm9: "+r.phrase(phrase.CodeUnknown), "dm1: "+r.phrase(phrase.PairingWelcome), "dm9: "+r.phrases.Say(phrase.Paired, ann))
	r.hears(event("dm1", "ann", "hello"), chat.Accepted)
	r.until("ann is answered", func() bool { return len(r.net.said()) == 4 })
	r.hears(event("hall", "ann", "and in a group?"), chat.Refused)
	r.hears(event("dm9", "boss", "/pair "+code), chat.Accepted)
	if said := r.net.said(); said[3] != "dm1: hi" || said[4] != "dm9: "+r.phrase(phrase.CodeUnknown) {
		t.Fatalf("%q", said)
	}
	if got := r.gate.Trust(event("dm1", "ann", "")); got != chat.Known {
		t.Errorf("ann is %v", got)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}

	r = live(t, d, closed, reply("hi again")) // and so does the admission
	r.hears(event("dm1", "ann", "/pair "+code), chat.Accepted)
	r.says("dm1: hi again")
	if !strings.Contains(r.agent.prompt(0), "/pair") {
		t.Error("what only the owner may do is ordinary text of anybody else")
	}
	r.hears(event("dm9", "boss", "/people"), chat.Accepted)
	r.hears(event("dm9", "boss", "/unpair net/ann"), chat.Accepted)
	r.hears(event("dm9", "boss", "/unpair net/ann"), chat.Accepted)
	said := r.net.said()
	if len(said) != 4 || !strings.HasPrefix(said[1], "dm9: - "+ann) || said[2] != "dm9: "+r.phrases.Say(phrase.Unpaired, ann) ||
		said[3] != "dm9: "+r.phrase(phrase.PersonUnknown) {
		t.Fatalf("%q", said)
	}
	r.hears(event("dm1", "ann", "hello?"), chat.Refused)
}

func TestNobodyGetsACodeUnlessItIsOn(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) { closed(c); c.Access.Pairing = false }, reply("no"))
	r.hears(event("dm1", "ann", "let me in"), chat.Refused)
	r.hears(event("dm9", "boss", "/pair ABCD-EFGH"), chat.Accepted)
	r.says("dm9: " + r.phrase(phrase.PairingOff))
}

// Who was heard, and is no longer, gets a code for what they say from now on and not for what was answered.
func TestWhatWasAnsweredGetsNoCode(t *testing.T) {
	d, said := dir(t), event("dm1", "ann", "hello")
	r := live(t, d, nil, reply("hi"))
	r.hears(said, chat.Accepted)
	r.says("dm1: hi")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = live(t, d, closed)
	r.hears(said, chat.Refused)
	r.hears(event("dm2", "bob", "let me in"), chat.Refused)
	r.says("dm2: " + r.phrases.Say(phrase.PairingOffer, r.code(1), 60))
}

func TestACodeIsToldInTheBotsLanguage(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) { closed(c); c.Bot.Language = "zh-TW" })
	r.hears(event("dm1", "ann", "let me in"), chat.Refused)
	r.says("dm1: " + r.phrases.Say(phrase.PairingOffer, r.code(1), 60))
}

// Strangers in a crowd get so many answers and no more, and nothing of what they said is anywhere.
func TestStrangersFloodNobody(t *testing.T) {
	const word = "xyzzyplugh"
	d := dir(t)
	r := live(t, d, closed)
	for i := range pairing.MostOffers + 50 {
		ev := event(fmt.Sprint("dm", i), fmt.Sprint("s", i), word)
		ev.From.Name = ""
		r.hears(ev, chat.Refused)
		group := ev
		group.Place.Kind = chat.Group
		r.hears(group, chat.Refused)
	}
	if said := r.net.said(); len(said) != pairing.MostOffers {
		t.Fatalf("%d answers", len(said))
	}
	if left, err := r.inbox.Left(t.Context()); err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Join(d, "data", "workspaces")); err != nil || len(entries) != 0 {
		t.Fatal("a workspace was made", entries, err)
	}
	err := filepath.WalkDir(d, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(word)) {
			t.Errorf("what strangers said stands in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.log.String(), word) {
		t.Error("what strangers said stands in the log")
	}
}

// What was begun is ended; what waits, and whatever comes later, is not heard any more.
func TestUnpairWhileATurnRuns(t *testing.T) {
	hold := make(chan struct{})
	r := live(t, dir(t), closed, script.Turn{Steps: []script.Step{{Until: hold}, use("send-reply", map[string]string{"message": "done"})}}, reply("more"))
	r.hears(event("dm1", "ann", "hello"), chat.Refused)
	r.hears(event("dm9", "boss", "/pair "+r.code(1)), chat.Accepted)
	r.hears(event("dm1", "ann", "one"), chat.Accepted)
	r.until("it runs", func() bool { return r.rooms.Load().Running == 1 })
	r.hears(event("dm1", "ann", "two"), chat.Accepted)
	r.hears(event("dm9", "boss", "/unpair ann"), chat.Accepted)
	before := len(r.net.said())
	close(hold)
	r.until("nothing runs", func() bool { l := r.rooms.Load(); return l.Running+l.Waiting == 0 })
	if said := r.net.said()[before:]; len(said) != 1 || said[0] != "dm1: done" {
		t.Fatalf("%q", said)
	}
	if r.agent.prompt(1) != "" {
		t.Error("what waited was begun")
	}
	if left, err := r.inbox.Left(t.Context()); err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
	r.hears(event("dm1", "ann", "three"), chat.Refused)
}

func TestThePageAdmits(t *testing.T) {
	r := live(t, dir(t), closed, reply("hi"))
	defer http.DefaultClient.CloseIdleConnections()
	r.hears(event("dm1", "ann", "let me in"), chat.Refused)
	ask := func(token, method, path, body string, status int) (answer string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, r.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		data, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status || !json.Valid(data) {
			t.Fatalf("%s %s: %d %s, %v, want %d", method, path, resp.StatusCode, data, err, status)
		}
		return string(data)
	}
	token := strings.Repeat("t", 64)
	code, err := json.Marshal(struct {
		Code string `json:"code"`
	}{r.code(1)})
	if err != nil {
		t.Fatal(err)
	}
	ask("", http.MethodGet, "/console/people", "", http.StatusUnauthorized)
	ask("", http.MethodPost, "/console/people/pair", string(code), http.StatusUnauthorized)
	ask("wrong", http.MethodPost, "/console/people/pair", string(code), http.StatusUnauthorized)
	ask(token, http.MethodPost, "/console/people/pair", "{", http.StatusBadRequest)
	ask(token, http.MethodPost, "/console/people/pair", `{"code":"`+strings.Repeat("x", 5000)+`"}`, http.StatusRequestEntityTooLarge)
	ask(token, http.MethodPost, "/console/people/pair", `{"code":"AAAA-AAAA"}`, http.StatusNotFound)
	ask(token, http.MethodGet, "/console/people/pair", "", http.StatusMethodNotAllowed)
	if list := ask(token, http.MethodGet, "/console/people", "", http.StatusOK); list != `{"pairing":true,"waiting":1,"people":[]}`+"\n" {
		t.Error(list)
	}
	ask(token, http.MethodPost, "/console/people/pair", string(code), http.StatusOK)
	r.hears(event("dm1", "ann", "hello"), chat.Accepted)
	if list := ask(token, http.MethodGet, "/console/people", "", http.StatusOK); !strings.Contains(list, `{"platform":"net","id":"ann","name":"ANN","at":`) {
		t.Error(list)
	}
	r.until("ann is answered", func() bool { return r.net.said()[len(r.net.said())-1] == "dm1: hi" })
	ask(token, http.MethodPost, "/console/people/unpair", `{"platform":"web","id":"ann"}`, http.StatusNotFound)
	ask(token, http.MethodPost, "/console/people/unpair", `{"platform":"net","id":"ann"}`, http.StatusOK)
	r.hears(event("dm1", "ann", "hello"), chat.Refused)
}
