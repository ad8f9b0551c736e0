package program

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/script"
)

// run runs the program to its end.
func (b *bot) run(args ...string) (code int, out, errs string) {
	b.t.Helper()
	cmd := b.command(args...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(b.in), &o, &e
	err := cmd.Start()
	if err == nil {
		late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }) // one that does not end
		err = cmd.Wait()
		late.Stop()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

func TestMistakesAreToldInOneMessage(t *testing.T) {
	cases := map[string]struct {
		config string
		args   []string
		code   int
		errs   []string
	}{
		"an unknown key": {"version: 1\naccess: {replyPloicy: all}\n", []string{"up", "--no-open"}, 1,
			[]string{"config.yaml:2:10", "replyPloicy", "replyPolicy"}},
		"several at once": {"version: 1\nbot: {desk: kitchen, language: tlh}\nserver: {port: 99999}\n", []string{"up", "--no-open"}, 1,
			[]string{"bot.desk", "bot.language", "server.port"}},
		"no mapping":          {"- a\n- b\n", []string{"up", "--no-open"}, 1, []string{"config.yaml:1:1"}},
		"a syntax error":      {"version: 1\nbot: {name: [\n", []string{"up", "--no-open"}, 1, []string{"config.yaml:"}},
		"a desk of later":     {"version: 1\nbot: {desk: steward}\n", []string{"up", "--no-open"}, 1, []string{"not in this build"}},
		"a platform of later": {"version: 1\nplatforms: {telegram: {token: x}}\n", []string{"up", "--no-open"}, 1, []string{"telegram", "not in this build"}},
		"AF-4 no platform":    {"version: 1\nplatforms: {web: {enabled: false}}\n", []string{"up", "--no-open"}, 1, []string{"platform"}},
		"AF-12 a wrong policy": {"version: 1\naccess: {replyPolicy: friends}\n", []string{"up", "--no-open"}, 1,
			[]string{"friends", "all", "public", "channels"}},
		"the check":             {"version: 1\naccess: {replyPloicy: all}\n", []string{"config", "check"}, 1, []string{"config.yaml:2:10"}},
		"a wrong flag":          {"", []string{"up", "--prot", "1"}, 2, []string{"--prot", "familiar up --help"}},
		"too much":              {"", []string{"up", "now"}, 2, []string{"now", "--help"}},
		"no such command":       {"", []string{"sya", "x"}, 2, []string{"sya", "say"}},
		"nothing to say":        {"", []string{"say"}, 2, []string{"--help"}},
		"nobody to say it to":   {"", []string{"say", "x"}, 1, []string{"not running", "familiar up"}},
		"nobody to open":        {"", []string{"open"}, 1, []string{"not running"}},
		"a missing agent":       {"version: 1\nagent: {command: /nowhere/agent}\n", []string{"up", "--no-open"}, 1, []string{"/nowhere/agent"}},
		"a secret is not shown": {"version: 1\nagent: {geminiApiKey: hunter2hunter2}\n", []string{"config", "show"}, 0, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBot(t, c.config)
			args := c.args
			if args[len(args)-1] != "x" || args[0] == "say" {
				args = append(append([]string{}, args[0]), append(args[1:], b.dirFlag(args)...)...)
			}
			code, out, errs := b.run(args...)
			if code != c.code {
				t.Fatalf("exit %d\n%s%s", code, out, errs)
			}
			for _, want := range c.errs {
				if !strings.Contains(errs, want) {
					t.Errorf("%q does not say %q", errs, want)
				}
			}
			if strings.Contains(out+errs, "hunter2hunter2") {
				t.Error("the secret is shown:", out, errs)
			}
			if _, err := os.Stat(filepath.Join(b.dir, "state")); code != 0 && c.args[0] == "up" && err == nil && name != "a missing agent" {
				t.Error("something was started")
			}
		})
	}
}

// dirFlag names the bot's directory, for commands that take one.
func (b *bot) dirFlag(args []string) []string {
	switch args[0] {
	case "up", "say", "open", "config":
		return []string{"--dir", b.dir}
	}
	return nil
}

func TestSay(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{Steps: []script.Step{reply("hi")}}))
	b.start()
	if code, out, errs := b.run("say", "--dir", b.dir, "hello", "there"); code != 0 || out != "hi\n" {
		t.Fatal(code, out, errs)
	}
	code, out, errs := b.run("say", "--dir", b.dir, "--json", "hello")
	if code != 0 || !regexp.MustCompile(`^\{"sessionId":"s_[0-9a-f]{32}","text":"hi","status":"completed"\}\n$`).MatchString(out) {
		t.Fatal(code, out, errs)
	}
	session := regexp.MustCompile(`s_[0-9a-f]{32}`).FindString(out)
	if code, out, errs := b.run("say", "--dir", b.dir, "--session", session, "again"); code != 0 || out != "hi\n" {
		t.Fatal(code, out, errs)
	}
	if code, out, errs := b.run("say", "--dir", b.dir, "/clear"); code != 3 || out != "" {
		t.Fatal("silence:", code, out, errs)
	}
	b.env = append(b.env, "FAMILIAR_URL="+b.url, "FAMILIAR_TOKEN="+b.token)
	if code, out, errs := b.run("say", "from elsewhere"); code != 0 || out != "hi\n" {
		t.Fatal(code, out, errs)
	}
	b.env = append(b.env, "FAMILIAR_TOKEN=wrong")
	if code, _, errs := b.run("say", "from elsewhere"); code != 1 || !strings.Contains(errs, "401") {
		t.Fatal(code, errs)
	}
}

// Where the platforms are written down without the web, the page opens and says what is missing, as the terminal does.
func TestABotWithoutTheWeb(t *testing.T) {
	b := newBot(t, scripted(t))
	b.write("config.development.yaml", "platforms: {webhook: {secret: a-secret-of-some-length-0123456789}}\n")
	b.start()
	for _, args := range [][]string{{"say", "--dir", b.dir, "hello"}, {"say", "--dir", b.dir, "--session", "s_0", "hello"}} {
		if code, out, errs := b.run(args...); code != 1 || out != "" || !strings.Contains(errs, "add «web: {}» to its platforms") {
			t.Error(args, code, out, errs)
		}
	}
}

// A bot that listens on every address, as in a container, is called by an address of its own machine.
func TestABotThatListensOnEveryAddress(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{Steps: []script.Step{reply("hi")}}))
	b.write("config.development.yaml", "server: {host: 0.0.0.0}\n")
	b.start()
	if code, out, errs := b.run("say", "--dir", b.dir, "hello"); code != 0 || out != "hi\n" {
		t.Error(code, out, errs)
	}
	if code, out, errs := b.run("open", "--dir", b.dir, "--print"); code != 0 || !strings.HasPrefix(out, "http://127.0.0.1:") {
		t.Error(code, out, errs)
	}
}

func TestSayDoesNotWaitForEver(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{Steps: []script.Step{{Wait: true}}}))
	b.write("config.development.yaml", "server: {shutdownMs: 1}\n")
	b.start()
	if code, _, errs := b.run("say", "--dir", b.dir, "--timeout", "100ms", "hello"); code != 4 || !strings.Contains(errs, "100ms") {
		t.Fatal(code, errs)
	}
	if code := b.stop(); code != 0 {
		t.Fatal("exit", code)
	}
}

func TestAFailedTurnIsAnError(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{Steps: []script.Step{{End: agent.Refusal}}}))
	b.start()
	if code, _, errs := b.run("say", "--dir", b.dir, "hello"); code != 1 || !strings.Contains(errs, "Sorry, something went wrong") {
		t.Fatal(code, errs)
	}
}

// BUG-G06: one process has a directory; what another one left in the pid file keeps nobody out.
func TestTwoProcessesOnOneDirectory(t *testing.T) {
	b := newBot(t, "")
	b.start()
	if code, _, errs := b.run("up", "--dir", b.dir, "--no-open"); code != 1 || !strings.Contains(errs, "in use") {
		t.Fatal(code, errs)
	}
	b.kill()
	b.write("state/familiar.pid", "1\nhttp://127.0.0.1:1\n")
	b.start()
}

// AF-196: signals that come twice are one; the turn that runs is finished first, and the exit code is 0.
func TestLeavingInOrder(t *testing.T) {
	first := script.Turn{Steps: []script.Step{reply("hi")}}
	slow := script.Turn{Steps: append(atTheGate(), reply("finished"))}
	b := newBot(t, scripted(t, first))
	b.start()
	if _, err := b.say("make the folder"); err != nil {
		t.Fatal(err)
	}
	b.stop()
	b.closeGate()
	b.write("config.yaml", scripted(t, slow))
	b.start()
	posted, err := b.control().Post(t.Context(), "", "1", "hello")
	if err != nil {
		t.Fatal(err)
	}
	b.follow(posted.Session, func(all []event) bool { return all[len(all)-1].Type == "actions.requested" })
	events := make(chan []event, 1)
	go func() {
		defer close(events)
		events <- b.follow(posted.Session, func(all []event) bool { return all[len(all)-1].Type == "turn.completed" })
	}()
	for range 2 {
		if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, "it leaves", func() bool { return strings.Contains(b.log.String(), "leaving") })
	b.openGate()
	if said := words(<-events); len(said) != 1 || said[0] != "finished" {
		t.Fatal(said)
	}
	<-b.exited
	if code := b.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatal("exit", code)
	}
}

func TestASecondInterruptLeavesAtOnce(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{Steps: []script.Step{{Wait: true}}}))
	b.start()
	if _, err := b.control().Post(t.Context(), "", "1", "hello"); err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	wait(t, "it leaves", func() bool { return strings.Contains(b.log.String(), "leaving") })
	if err := b.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-b.exited
	if code := b.cmd.ProcessState.ExitCode(); code != 130 {
		t.Fatal("exit", code)
	}
}
