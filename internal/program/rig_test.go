package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"familiar/internal/control"
	"familiar/internal/secret"
)

// bot is the program at work in a directory.
type bot struct {
	t   *testing.T
	dir string
	env []string

	port   string // the port to take; "0" is any
	in     string // what commands read
	cmd    *exec.Cmd
	log    *buffer
	url    string
	token  string
	exited chan struct{}
}

// buffer is a bytes.Buffer that two goroutines may use.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// patience is how long anything may take before a test calls it a failure: this is no measure of speed, only of
// patience on a loaded machine.
const patience = 90 * time.Second

// newBot makes a directory with a configuration; start runs it.
func newBot(t *testing.T, config string, env ...string) *bot {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bot")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if config != "" {
		if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := &bot{t: t, dir: dir, log: &buffer{}, env: env, port: "0"}
	t.Cleanup(func() {
		if b.cmd != nil && t.Failed() {
			_ = b.cmd.Process.Signal(syscall.SIGTERM) // let it say what went wrong
			select {
			case <-b.exited:
			case <-time.After(patience):
			}
		}
		if b.cmd != nil {
			b.kill()
		}
		if t.Failed() {
			t.Logf("the program said:\n%s", b.log)
		}
	})
	return b
}

// start runs the program until it says that it is ready.
func (b *bot) start() {
	b.t.Helper()
	if err := b.tryStart(); err != nil {
		b.t.Fatalf("start: %v\n%s", err, b.log)
	}
}

func (b *bot) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program(b.t), args...)
	cmd.Env = append([]string{asProgram + "=1", "HOME=" + filepath.Dir(b.dir), "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}, b.env...)
	return cmd
}

// program is this test's executable under the name that it has when it is installed: agents call it by that name.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(filepath.Dir(self), "familiar")
	if self == named || sameFile(self, named) {
		return named
	}
	_ = os.Remove(named) // of an earlier build
	if err := os.Link(self, named); err != nil && !sameFile(self, named) {
		t.Fatal(err)
	}
	return named
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

func (b *bot) tryStart() error {
	cmd := b.command("up", "--dir", b.dir, "--port", b.port, "--no-open")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = b.log
	if err := cmd.Start(); err != nil {
		return err
	}
	ready := make(chan string, 1)
	b.cmd, b.exited = cmd, make(chan struct{})
	go func() {
		defer close(b.exited)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			_, _ = io.WriteString(b.log, line)
			if i := strings.Index(line, "ready http://"); i >= 0 {
				ready <- strings.Trim(strings.Fields(line[i:])[1], `",}`)
			}
			if err != nil {
				break
			}
		}
		_ = cmd.Wait()
	}()
	select {
	case b.url = <-ready:
	case <-b.exited:
		return errors.New("it ended before it was ready")
	case <-time.After(patience):
		return errors.New("it was never ready")
	}
	token, err := os.ReadFile(filepath.Join(b.dir, "state", "token"))
	b.token = strings.TrimSpace(string(token))
	return err
}

// kill ends the program as a power cut does.
func (b *bot) kill() {
	_ = b.cmd.Process.Kill()
	<-b.exited
}

// stop ends it in order and returns the exit code.
func (b *bot) stop() int {
	b.t.Helper()
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.t.Fatal(err)
	}
	select {
	case <-b.exited:
	case <-time.After(patience):
		b.t.Fatal("it did not end")
	}
	return b.cmd.ProcessState.ExitCode()
}

func (b *bot) control() *control.Client { return control.New(b.url, secret.New(b.token)) }

// say sends a message in a new session and returns what came back.
func (b *bot) say(text string) (string, error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	reply, err := b.control().Say(ctx, "", text)
	return reply.Text, err
}

// event is a line of a session's stream.
type event struct {
	Index int    `json:"index"`
	Type  string `json:"type"`
	Data  struct {
		Message string `json:"messageId"`
		Text    string `json:"text"`
		ReplyTo string `json:"replyTo"`
		Turn    string `json:"turnId"`
		Answers string `json:"answers"`
		Tool    string `json:"tool"`
		OK      bool   `json:"ok"`

		Request string `json:"requestId"`
		Options []struct {
			ID string `json:"optionId"`
		} `json:"options"`
	} `json:"data"`
}

// follow reads a session's stream from its beginning until the func is content, and returns what it read.
func (b *bot) follow(session string, until func([]event) bool) []event {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	resp := b.ask(ctx, http.MethodGet, "/v1/sessions/"+session+"/stream?startIndex=0", "", http.StatusOK)
	defer resp.Body.Close()
	var events []event
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var ev event
		if json.Unmarshal(lines.Bytes(), &ev) != nil || ev.Type == "" {
			continue
		}
		if events = append(events, ev); until(events) {
			return events
		}
	}
	b.t.Fatalf("the stream of %s ended too early (%v): %s", session, lines.Err(), summary(events))
	return nil
}

// summary is what a stream shows, in a line.
func summary(events []event) string {
	var all []string
	for _, ev := range events {
		all = append(all, strings.TrimSpace(fmt.Sprint(ev.Type, " ", ev.Data.Tool, ev.Data.Text)))
	}
	return strings.Join(all, " | ")
}

// ask sends a request as the owner and checks the status.
func (b *bot) ask(ctx context.Context, method, path, body string, status int) *http.Response {
	b.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	if resp.StatusCode != status {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
		_ = resp.Body.Close()
		b.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, text)
	}
	return resp
}

// audit is everything that the audit files say.
func (b *bot) audit() string {
	var all strings.Builder
	_ = filepath.WalkDir(filepath.Join(b.dir, "data", "audit"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(path)
			all.Write(text)
		}
		return nil
	})
	return all.String()
}

// quiet checks that some words reached nobody: no stream, no log, no audit.
func (b *bot) quiet(words string) {
	b.t.Helper()
	if strings.Contains(b.log.String(), words) || strings.Contains(b.audit(), words) {
		b.t.Errorf("%q stands in a log", words)
	}
}

// paths are names in the bot's directory.
func (b *bot) paths(names ...string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = filepath.Join(b.dir, name)
	}
	return all
}

// write puts a file into the bot's directory.
func (b *bot) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// wait looks until a condition holds.
func wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to pass that %s", what)
		}
	}
}
