package host

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/memory"
)

// jobs are those of the clock that run.
type jobs struct {
	mu sync.Mutex
	n  int
}

func (j *jobs) count(by int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.n += by
}

func (j *jobs) running() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.n
}

// do lets a scene happen, and returns what became of an event; "" when it was accepted.
func (s *scenario) do(sc *scene) (outcome string) {
	s.t.Helper()
	switch sc.verb {
	case "town", "network":
	case "says":
		return s.happens(s.deed(sc))
	case "repeat":
		return s.happens(deed{verb: "repeats", of: s.last})
	case "go":
		s.bot.until(sc.rest+" is held", func() bool { return s.cast.held(sc.rest) })
		s.cast.release(sc.rest)
	case "restart", "crash":
		s.again(sc.verb == "crash")
	case "refuses", "limits", "loses":
		times, err := strconv.Atoi(sc.rest)
		if err != nil {
			s.t.Fatalf("line %d: %v", sc.line, err)
		}
		s.lets(deed{verb: sc.verb, times: times})
	case "drops":
		s.lets(deed{verb: sc.verb})
		s.adrift = true
	case "memory":
		s.memory(sc)
	case "reminder":
		s.reminder(sc)
	case "write":
		s.write(sc)
	case "admit":
		s.admit()
	default:
		return s.due(sc)
	}
	return ""
}

// deed is «WHO in PLACE [HOW]…: WORDS», as README.md lists what HOW can be.
func (s *scenario) deed(sc *scene) deed {
	s.t.Helper()
	d := deed{verb: "says", who: sc.who, place: sc.where, words: strings.ReplaceAll(s.names.show(sc.rest), `\n`, "\n")}
	flags := map[string]*bool{"aside": &d.aside, "bot": &d.bot, "program": &d.program}
	for how := sc.how; len(how) > 0; how = how[1:] {
		word := how[0]
		if flag := flags[word]; flag != nil {
			*flag = true
			continue
		}
		if len(how) < 2 {
			s.t.Fatalf("line %d: %q needs a word after it", sc.line, word)
		}
		how = how[1:]
		switch word {
		case "album":
			d.album = how[0]
		case "sticker":
			d.sticker = how[0]
		case "for":
			d.audience = how[0]
		case "file":
			d.files = append(d.files, how[0])
		case "to":
			d.to = s.message(how[0])
		case "edits", "recalls":
			d.verb, d.of = word, s.message(how[0])
		default:
			s.t.Fatalf("line %d: nobody knows what %q means", sc.line, word)
		}
	}
	return d
}

// message is the id of a message by its name.
func (s *scenario) message(name string) chat.MessageID {
	s.t.Helper()
	id := s.names.show("{" + name + "}")
	if strings.HasPrefix(id, "{") {
		s.t.Fatalf("nobody said %s", name)
	}
	return chat.MessageID(id)
}

// happens lets something be said, waits until the bot has heard it, and returns what became of it.
func (s *scenario) happens(d deed) string {
	s.t.Helper()
	since, _ := s.wire.came()
	s.last = s.lets(d)
	if s.last != d.of {
		s.came++
		s.names.call(string(s.last), fmt.Sprint("m", s.came))
	}
	s.hears()
	return s.wire.became(d, s.last, since)
}

// lets lets a deed happen.
func (s *scenario) lets(d deed) chat.MessageID {
	s.t.Helper()
	of, err := s.net.does(d)
	if err != nil {
		s.t.Fatalf("%s: %v", d.verb, err)
	}
	return of
}

// hears waits until the bot has heard everything up to now.
func (s *scenario) hears() {
	s.t.Helper()
	s.adrift = false
	_, before := s.wire.came()
	s.lets(deed{verb: "pulses"})
	s.bot.until("the bot has heard all that was said", func() bool { _, n := s.wire.came(); return n > before })
}

// due lets a job of the clock run, which the story may hold.
func (s *scenario) due(sc *scene) string {
	h := s.bot.Host
	run := map[string]func(context.Context, time.Time) error{"reminders": h.remindAll, "post": h.postIn(s.net.name()),
		"lurk": h.lurkIn(s.net.name()), "research": h.researchOnce, "tidy": h.tidyAll}[sc.verb]
	if run == nil {
		s.t.Fatalf("line %d: nobody knows the job %q", sc.line, sc.verb)
	}
	s.jobs.count(1)
	ended := make(chan error, 1)
	go func() {
		defer s.jobs.count(-1)
		ended <- run(s.t.Context(), time.Now())
	}()
	s.bot.until(sc.verb+" ended or is held", func() bool { return len(ended) > 0 || s.cast.holdsNow() > 0 })
	select {
	case err := <-ended:
		if err != nil {
			return "failed: " + err.Error()
		}
	default:
	}
	return ""
}

// again starts the bot anew: after an orderly end, or on a copy of what a kill would leave on the disk.
func (s *scenario) again(killed bool) {
	s.t.Helper()
	old := s.bot
	if killed {
		s.wire.kill()
		home := filepath.Join(s.t.TempDir(), "bot")
		err := old.db.Write(s.t.Context(), func(*sql.Tx) error { return os.CopyFS(home, os.DirFS(s.home)) }) // nobody writes the database meanwhile
		if err != nil {
			s.t.Fatal(err)
		}
		s.home, old.cfg.Server.ShutdownMs = home, 1
	}
	if err := old.stop(); err != nil {
		s.t.Fatal(err)
	}
	s.open()
}

// memory is «memory of WHO public|private [high]: WORDS».
func (s *scenario) memory(sc *scene) {
	s.t.Helper()
	head, words, _ := strings.Cut(sc.rest, ": ")
	how := strings.Fields(head)
	if len(how) < 3 || how[0] != "of" {
		s.t.Fatalf("line %d: write «memory of WHO public|private [high]: WORDS»", sc.line)
	}
	draft := memory.Draft{Content: words}
	if slices.Contains(how, "high") {
		draft.Importance = memory.High
	}
	m, err := s.bot.memory.Save(s.t.Context(), chat.Person{Platform: s.net.name(), ID: s.net.id("@" + how[1])}, how[2] == "private", draft)
	if err != nil {
		s.t.Fatal(err)
	}
	s.names.memory(m.ID)
}

// admit lets in every note that waits for the owner.
func (s *scenario) admit() {
	s.t.Helper()
	waiting, err := s.bot.drafts.Waiting()
	if err != nil || len(waiting) == 0 {
		s.t.Fatal("notes that wait:", waiting, err)
	}
	for _, d := range waiting {
		if _, err := s.bot.drafts.Admit(d.Session, true); err != nil {
			s.t.Fatal(err)
		}
	}
}

// reminder is «reminder of WHO: WORDS»: one that is due.
func (s *scenario) reminder(sc *scene) {
	s.t.Helper()
	head, words, _ := strings.Cut(sc.rest, ": ")
	who := s.net.id("@" + strings.TrimPrefix(head, "of "))
	home, err := s.bot.folders.Home(s.net.name(), who)
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "reminders.jsonl"), fmt.Appendf(nil,
			`{"type":"reminder","id":"rem_1_a","createdAt":"2026-01-01T00:00:00.000Z","scheduledAt":"2026-01-02T00:00:00.000Z","message":%q,"platform":%q,"userId":%q,"enabled":true}`+"\n",
			words, s.net.name(), who), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// write is «write WHO PATH: WORDS»: a file in a person's workspace, where the agent stands.
func (s *scenario) write(sc *scene) {
	s.t.Helper()
	head, words, _ := strings.Cut(sc.rest, ": ")
	who, path, _ := strings.Cut(head, " ")
	home, err := s.bot.folders.Home(s.net.name(), s.net.id("@"+who))
	if err == nil {
		path = filepath.Join(home, "work", path)
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(words+"\n"), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// rehearses reports whether no agent is asked here.
func (s *scenario) rehearses() bool { return s.bot.cfg.Agent.DryRun.Enabled }

// rehearsed is what a dry run wrote since it was asked last.
func (s *scenario) rehearsed() (prompts []string) {
	paths, _ := filepath.Glob(filepath.Join(s.home, "data", "dry-run", "*.md"))
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			prompts = append(prompts, string(text))
			_ = os.Remove(path)
		}
	}
	return prompts
}
