package discordtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peers is where what others wrote is installed.
const peers = "../../../../tools/discord"

// installed returns a script of peers, and skips the test where nothing is installed.
func installed(t *testing.T, script string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(peers, script))
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(filepath.Dir(path), "node_modules/discord.js/package.json"))
	if _, node := exec.LookPath("node"); err != nil || node != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v: «make deps» installs it", errors.Join(err, node))
		}
		t.Skipf("%v: «make deps» installs it", errors.Join(err, node))
	}
	return path
}

// What we hold requests against is what Discord publishes.
func TestTheSchemasAreDiscordsOwn(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "node", installed(t, "schema.mjs"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		fresh, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := os.ReadFile(filepath.Join("schema", filepath.Base(file)))
		if err != nil || !bytes.Equal(fresh, ours) {
			t.Errorf("schema/%s is not what is published: run node tools/discord/schema.mjs internal/platform/discord/discordtest/schema (%v)", filepath.Base(file), err)
		}
	}
}

// peer is a bot on discord.js.
type peer struct {
	mu    sync.Mutex
	lines []string
}

func (p *peer) saw(words string) bool { return p.times(words) > 0 }

// times is how many lines begin with these words.
func (p *peer) times(words string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines {
		if strings.HasPrefix(l, words) {
			n++
		}
	}
	return n
}

// start runs a bot on discord.js until the test ends.
func start(t *testing.T, s *Server) *peer {
	t.Helper()
	cmd := exec.Command("node", installed(t, "drive.mjs"), s.URL(), s.Token())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var faults bytes.Buffer
	cmd.Stderr = &faults
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, read := &peer{}, make(chan struct{})
	go func() {
		defer close(read)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			p.mu.Lock()
			p.lines = append(p.lines, scan.Text())
			p.mu.Unlock()
			s.mu.Lock()
			s.tell()
			s.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		hangs := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		<-read
		hangs.Stop()
		if err := cmd.Wait(); err != nil || faults.Len() > 0 {
			t.Errorf("discord.js: %v, %s", err, faults.String())
		}
	})
	return p
}

// A client that others wrote finds in the fake what it finds in Discord.
func TestAClientOfOthers(t *testing.T) {
	s, err := Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.Beat(time.Second)
	talk, ann := s.AddChannel(s.AddGuild("The Tea House", nil), "talk", Text), s.AddUser("ann", "Ann")
	p := start(t, s)
	until := func(what string, holds func() bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if !s.Until(ctx, holds) {
			t.Fatalf("it never came to pass that %s; discord.js says %q, the fake %q", what, p.lines, s.Problems())
		}
	}
	posted := func(text string) func() bool { return func() bool { return slices.Contains(s.Posted(talk), text) } }
	until("it is ready", func() bool { return p.saw("ready " + s.Bot().ID + " The Tea House") })
	q := s.Say(talk, ann, "reply")
	until("it replies", posted("a reply"))
	if m := s.Said(talk)[1]; m.Reference == nil || m.Reference.MessageID != q.ID {
		t.Errorf("the reply is %+v", m)
	}
	s.Say(talk, ann, "once")
	s.Say(talk, ann, "edit")
	until("it edits", posted("second"))
	until("it is told of the edit", func() bool { return p.saw("edited second") })
	s.Say(talk, ann, "remove")
	until("it removes", func() bool { return p.saw("deleted") })
	asked := s.Say(talk, ann, "react")
	until("it reacts", func() bool {
		return slices.ContainsFunc(s.Said(talk), func(m Message) bool { return m.ID == asked.ID && len(m.Reactions) == 1 })
	})
	s.Say(talk, ann, "typing")
	until("it types", func() bool { return len(s.Tally().Typed) == 1 })
	s.Say(talk, ann, "file")
	until("it sends a file", posted("a file"))
	s.Say(talk, ann, "history")
	until("it reads back", posted("before that: a file, file"))
	s.Say(talk, ann, "refused")
	until("it is refused", posted("refused with 50035"))
	s.Say(talk, ann, "alone")
	until("it writes to somebody alone", func() bool { return slices.Contains(s.Posted(s.Direct(ann)), "alone") })
	if n := len(slices.DeleteFunc(s.Posted(talk), func(m string) bool { return m != "once" })); n != 1 {
		t.Errorf("one nonce posted %d messages", n)
	}
	until("it beats", func() bool { return s.Tally().Heartbeats > 0 })
	for _, end := range []func(){func() { s.Drop(4000) }, s.Reconnect, func() { s.Drop(0) }} {
		was := s.Tally().Resumed
		end()
		until("it resumes", func() bool { return s.Tally().Resumed > was })
		n := len(s.Posted(talk))
		s.Say(talk, ann, "reply")
		until("it goes on", func() bool { return len(s.Posted(talk)) > n })
	}
	s.Invalidate(false)
	until("it begins anew", func() bool { return s.Tally().Identified == 2 && p.times("begun") == 2 }) // midway it does not leave
	if found := s.Problems(); len(found) > 0 {
		t.Errorf("discord.js broke rules, or we do: %q", found)
	}
}
