package host

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/config"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scenarios")

// Whole conversations, through the whole host: testdata/scenarios/README.md says how one is written.
func TestScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/scenarios/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { playFile(t, path) })
	}
}

func playFile(t *testing.T, path string) {
	t.Parallel()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := readArchive(string(text))
	story, err := readStory(file.section("story"))
	if err != nil {
		t.Fatal(err)
	}
	all := networks(story[0])
	if len(all) == 1 {
		playOn(t, all[0], file, path)
		return
	}
	for i, network := range all {
		network.alike = true
		t.Run(network.name, func(t *testing.T) {
			if i > 0 && *update {
				t.Skip("what is written is what the first network saw")
			}
			t.Parallel()
			playOn(t, network, file, path)
		})
	}
}

// playOn plays a story on a network.
func playOn(t *testing.T, network on, file archive, path string) {
	t.Helper()
	s := newScenario(t, network, file)
	s.play()
	if got := s.archive().String(); got != file.String() {
		if !*update {
			t.Fatalf("it went otherwise than written; got:\n%s\nlog:\n%s", got, s.bot.log)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// scenario is one conversation.
type scenario struct {
	t      *testing.T
	file   archive
	story  []*scene
	bot    *rig
	home   string
	net    world
	wire   *wire
	site   *httptest.Server // serves the sections site/…
	cast   *cast
	names  *names
	jobs   jobs
	last   chat.MessageID // what was said, edited or taken back last
	came   int            // how many messages people said
	adrift bool           // the connection broke, and nobody spoke since
	shown  int            // how much of what reached the network stands in the story
	record string         // the audit, at the end
}

func newScenario(t *testing.T, network on, file archive) *scenario {
	s := &scenario{t: t, file: file}
	story, err := readStory(s.file.section("story"))
	if err != nil {
		t.Fatal(err)
	}
	s.story = story
	s.opens(network)
	var plays []play
	for _, scene := range s.story {
		plays = append(plays, scene.plays...)
	}
	s.cast = &cast{t: t, plays: plays, show: s.names.show, holding: map[*actor]context.Context{}, holds: map[string]chan struct{}{}}
	s.home = filepath.Join(t.TempDir(), "bot")
	s.site = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.site.Close)
	s.open()
	return s
}

// open starts the bot, in the place of one that has ended.
func (s *scenario) open() {
	s.t.Helper()
	s.bot = begin(s.t, s.home, s.configure, func(o *Options) {
		s.net.join(o)
		o.Between, o.Agent, o.Tools = s.between, s.cast, s.cast.tools()
	})
	s.bot.until("the bot is on the network", func() bool { return s.bot.connected(s.net.name()) })
	s.hears()
}

// theirs are the places of a configuration where an id of the network's stands: {{@ann}}, {{#hall}}.
var theirs = regexp.MustCompile(`\{\{[@#][^{}]+\}\}`)

// configure is the section config over what suits a test: everybody is heard, everything is recorded, and ports and
// times are those of tests, where the section does not say otherwise.
func (s *scenario) configure(c *config.Config) {
	s.t.Helper()
	text := strings.ReplaceAll(s.file.section("config"), "{{site}}", s.site.URL)
	text = theirs.ReplaceAllStringFunc(text, func(of string) string { return s.net.id(strings.Trim(of, "{}")) })
	file := filepath.Join(s.t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("version: 1\n"+text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	loaded, err := config.Load(config.Where{File: file}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	*c = loaded.Config
	c.Server.Port, c.SkillAPI.Port = 0, 0
	c.Audit.Enabled, c.Audit.IncludedPhases = true, nil
	if !strings.Contains(text, "replyPolicy") {
		c.Access.ReplyPolicy = "all"
	}
	if !strings.Contains(text, "shutdownMs") {
		c.Server.ShutdownMs = 60_000
	}
}

// serve is the world outside: the page /x is the section site/x.
func (s *scenario) serve(w http.ResponseWriter, r *http.Request) {
	if text := s.file.section("site" + r.URL.Path); text != "" {
		_, _ = w.Write([]byte(text)) // whoever does not read it misses it
		return
	}
	http.NotFound(w, r)
}

// play lives through the story, and writes down what came of it.
func (s *scenario) play() {
	s.t.Helper()
	for _, scene := range s.story {
		before := len(s.cast.told())
		outcome := s.do(scene)
		s.settle(scene, before)
		scene.came(outcome, s.names.hide(s.news()))
		s.check(scene, s.cast.told()[before:])
	}
	if left := s.cast.left(); left > 0 {
		s.t.Errorf("the agent was not asked %d times as often as the story says", left)
	}
	if err := s.bot.stop(); err != nil {
		s.t.Fatal(err)
	}
	s.record = s.audit()
}

// news is what reached the network since it was asked last.
func (s *scenario) news() []string {
	all := s.net.reached()
	fresh := all[s.shown:]
	s.shown = len(all)
	return fresh
}

// settle waits until nothing goes on but what the story holds, and until as much has reached the network and the agent
// as is written.
func (s *scenario) settle(scene *scene, before int) {
	s.t.Helper()
	quiet := func() bool { return s.quiet(scene.waits) }
	s.bot.until(fmt.Sprintf("all is quiet after line %d", scene.line), quiet)
	if !s.adrift {
		defer s.hears() // what the bot said comes back to it on some networks
	}
	if *update {
		return
	}
	came := func() bool {
		told := strings.Join(s.cast.told()[before:], "\n")
		unmet := func(words string) bool { return !strings.Contains(told, words) }
		return len(s.net.reached()) >= s.shown+len(scene.wanted) && (!slices.ContainsFunc(scene.told, unmet) || s.rehearses())
	}
	for end := time.Now().Add(10 * time.Second); !came() && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	s.bot.until("all is quiet again", quiet)
}

// quiet reports whether every turn that runs is held by the story, and all that waits waits for one of them; or for
// more to come, where the story says so.
func (s *scenario) quiet(waits bool) bool {
	left, err := s.bot.inbox.Left(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	held := s.cast.holdsNow()
	if waits {
		return s.bot.rooms.Load().Running == held
	}
	if load := s.bot.rooms.Load(); load.Running != held || held == 0 && (load.Waiting > 0 || len(left) > 0 || s.jobs.running() > 0) {
		return false
	}
	type line struct{ place, person string }
	busy, turns := map[line]bool{}, map[chat.TurnID]bool{}
	for _, e := range left {
		if e.Begun() {
			busy[line{e.Event.Place.ID, e.Event.From.ID}], turns[e.Turn] = true, true
		}
	}
	if len(turns) != held {
		return false
	}
	for _, e := range left { // a command waits behind nobody
		if strings.HasPrefix(e.Event.Text(), "/") || !busy[line{e.Event.Place.ID, e.Event.From.ID}] {
			return false
		}
	}
	return true
}

// check compares what the agent was told with what it must be told, and must not.
func (s *scenario) check(scene *scene, told []string) {
	s.t.Helper()
	told = append(told, s.rehearsed()...)
	all := strings.Join(told, "\n")
	if len(told) == 0 && len(scene.told)+len(scene.untold) > 0 {
		s.t.Errorf("line %d: the agent was told nothing at all", scene.line)
	}
	for _, want := range scene.told {
		if !strings.Contains(all, want) {
			s.t.Errorf("line %d: the agent was not told %q, but:\n%s", scene.line, want, all)
		}
	}
	for _, no := range scene.untold {
		if strings.Contains(all, no) {
			s.t.Errorf("line %d: the agent was told %q:\n%s", scene.line, no, all)
		}
	}
}

// archive is the file as it would be written now.
func (s *scenario) archive() archive {
	now := archive{head: s.file.head}
	for _, part := range s.file.sections {
		switch part.name {
		case "story":
			part.text = writeStory(s.story)
		case "audit":
			continue
		}
		now.sections = append(now.sections, part)
	}
	now.sections = append(now.sections, section{"audit", s.record})
	return now
}
