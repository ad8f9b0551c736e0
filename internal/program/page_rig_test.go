package program

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"familiar/internal/agent/script"
	"familiar/internal/console/consoletest"
)

// page is a browser on the page of a bot.
type page struct {
	*consoletest.Page
	t   *testing.T
	bot *bot
}

// browse starts a browser. From here on the test fails when a page asks another host for anything, or comes
// without its policy.
func browse(t *testing.T, b *bot, more ...chromedp.ExecAllocatorOption) *page {
	t.Helper()
	return look(t, b, consoletest.Chromium(t, more...))
}

func look(t *testing.T, b *bot, tab context.Context) *page {
	t.Helper()
	p := &page{consoletest.Watch(t, tab), t, b}
	home, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	b.port = home.Port() // started again it is still the same page
	err = chromedp.Listen(tab, func(ev any) {
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			if to, err := url.Parse(ev.Request.URL); err != nil || to.Host != home.Host && to.Scheme != "about" {
				t.Errorf("the page asks another host: %s", ev.Request.URL)
			}
		case *network.EventWebSocketCreated:
			t.Errorf("the page opens %s", ev.URL)
		case *network.EventResponseReceived:
			if fault := unguarded(ev.Response); fault != "" {
				t.Errorf("%s %s", ev.Response.URL, fault)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// unguarded says what an answer of the console lacks.
func unguarded(r *network.Response) string {
	at, err := url.Parse(r.URL)
	if err != nil || at.Scheme != "http" || at.Path != "/" && !strings.HasPrefix(at.Path, "/console/") {
		return ""
	}
	var policy string
	for name, value := range r.Headers {
		if text, ok := value.(string); ok && strings.EqualFold(name, "Content-Security-Policy") {
			policy = text
		}
	}
	for _, must := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, must) {
			return "lacks " + must + " in its policy: " + policy
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		return "has a policy with holes: " + policy
	}
	return ""
}

// stranger is another browser, without a cookie, on the same bot.
func (p *page) stranger() *page {
	p.t.Helper()
	tab, leave := chromedp.NewContext(p.Tab, chromedp.WithNewBrowserContext())
	p.t.Cleanup(leave)
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		p.t.Fatal(err)
	}
	return look(p.t, p.bot, tab)
}

// link has the command line make a login link.
func (b *bot) link() string {
	b.t.Helper()
	out, err := b.command("open", "--dir", b.dir, "--print").Output()
	if err != nil {
		b.t.Fatalf("open --print: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// logIn opens the page by a link and waits until it can be written in.
func (p *page) logIn() {
	p.t.Helper()
	p.Steps(chromedp.Navigate(p.bot.link()))
	p.ready()
}

func (p *page) ready() {
	p.t.Helper()
	p.Until(`document.activeElement?.id === "text"`)
}

// settled waits until no turn runs and so many replies are shown.
func (p *page) settled(replies int) {
	p.t.Helper()
	p.Until(consoletest.Count(".theirs", replies) + ` && document.querySelector("#turn").hidden`)
}

// scripted is the configuration of a bot whose agent, a process of its own, plays a script. JSON is YAML too.
func scripted(t *testing.T, turns ...script.Turn) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env, err := script.Environment(script.Script{Turns: turns})
	if err != nil {
		t.Fatal(err)
	}
	type agent struct {
		Command string            `json:"command"`
		Env     map[string]string `json:"env"`
	}
	type named struct {
		Name string `json:"name"`
	}
	text, err := json.Marshal(struct {
		Version int   `json:"version"`
		Bot     named `json:"bot"`
		Agent   agent `json:"agent"`
	}{1, named{"Mochi"}, agent{self, env}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// reply is the step that answers.
func reply(text string) script.Step {
	args, _ := json.Marshal(struct { // a text always becomes JSON
		Message string `json:"message"`
	}{text})
	return script.Step{Call: "send-reply", Args: args}
}

// gate is a pipe in the agent's folder, at which it waits until the test opens it.
const gate = "gate"

// atTheGate are the steps of an agent that uses a tool of its own, to read the pipe.
func atTheGate() []script.Step {
	return []script.Step{{Raw: `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"{{session}}","update":` +
		`{"sessionUpdate":"tool_call","toolCallId":"gate","title":"the gate","kind":"read","status":"in_progress"}}}`},
		{Read: gate}}
}

// closeGate makes the pipe; the agent's folder must be there, so it has stood in it before.
func (b *bot) closeGate() {
	b.t.Helper()
	if err := syscall.Mkfifo(b.gate(), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bot) gate() string {
	return filepath.Join(b.dir, "data", "workspaces", "web", "owner", "work", gate)
}

// openGate lets the agent go on, once it has come to the gate.
func (b *bot) openGate() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		// A pipe that nobody reads cannot be opened for writing.
		pipe, err := os.OpenFile(b.gate(), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			err = pipe.Close()
		}
		if err == nil {
			return
		}
		if !errors.Is(err, syscall.ENXIO) {
			b.t.Fatal(err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			b.t.Fatal("the agent never came to the gate")
		}
	}
}

// home is the address of the page.
func (b *bot) home() string { return strings.TrimRight(b.url, "/") + "/" }
