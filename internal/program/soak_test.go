package program

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"familiar/internal/phrase"
)

// How much happens when SOAK does not say otherwise, and in each round of a longer one.
const (
	fewWild, fewCalm   = 40, 25
	manyWild, manyCalm = 250, 250
)

// What a round may leave over what the program had after its first words. Connections and readers that are kept ready
// come and go, and a heap breathes; what leaks grows with each of hundreds of messages.
const (
	spareFiles      = 24
	spareGoroutines = 16
	spareMemory     = 96 << 20
)

// Messages, albums, edits, recalls and stops, while agents and the program itself are killed and started: each message
// that was accepted is answered, or apologised for, exactly once, and the program is no larger at the end. SOAK is how
// long (5m); without it the number of steps is fixed.
func TestSoak(t *testing.T) {
	seed := fromEnv(t, "SOAK_SEED", time.Now().UnixNano())
	length, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil && os.Getenv("SOAK") != "" {
		t.Fatalf("SOAK: %v", err)
	}
	t.Logf("to choose the same steps again: SOAK_SEED=%d", seed)
	s, p := newSoak(t), newPlan(seed)
	s.start()
	for i, manner := range manners {
		s.say(fmt.Sprint(manner, "-", i), "first", 0)
	}
	s.settle()
	first := s.figures()
	wild, calm := fewWild, fewCalm
	if length > 0 {
		wild, calm = manyWild, manyCalm
	}
	for end := time.Now().Add(length); ; {
		s.start()
		for range wild {
			s.do(p.next(false))
		}
		s.settle()
		if code := s.stop(); code != 0 {
			t.Errorf("it ended with %d", code)
		}
		s.start()
		for range calm {
			s.do(p.next(true))
		}
		s.settle()
		now := s.figures()
		t.Logf("%d messages, %v; at first %v, now %v", len(s.said), s.steps, first, now)
		s.flat(first, now)
		s.check()
		if t.Failed() || !time.Now().Before(end) {
			break
		}
	}
	s.nobodyLeft()
}

// One seed gives one plan, and every deed comes in it.
func TestSoakPlan(t *testing.T) {
	one, same, other := newPlan(7), newPlan(7), newPlan(8)
	seen, differ := map[deed]bool{}, false
	for range 1000 {
		a, b := one.next(false), same.next(false)
		if a != b {
			t.Fatalf("one seed, two plans: %v, %v", a, b)
		}
		seen[a.deed] = true
		differ = differ || a != other.next(false)
		if calm := one.next(true); calm.deed == killing || calm.deed == leaving {
			t.Fatalf("not calm: %v", calm)
		}
		same.next(true)
	}
	if len(seen) != len(planned)+1 || !differ {
		t.Fatalf("deeds %v; another seed differs: %v", seen, differ)
	}
}

// figures are the size of an idle program.
type figures struct {
	files, goroutines int
	memory            int64
}

func (f figures) String() string {
	return fmt.Sprintf("%d files, %d goroutines, %d MiB", f.files, f.goroutines, f.memory>>20)
}

// figures measures the program and ends it: on SIGQUIT it shows every goroutine that it has.
func (s *bot) figures() (f figures) {
	s.t.Helper()
	http.DefaultClient.CloseIdleConnections()
	pid := s.cmd.Process.Pid
	f.files, f.memory = openFiles(pid), resident(s.t, pid)
	before := len(s.log.String())
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.exited:
	case <-time.After(patience):
		s.t.Fatal("it does not show its goroutines")
	}
	shown := s.log.String()[before:]
	f.goroutines = len(regexp.MustCompile(`(?m)^goroutine \d+ `).FindAllString(shown, -1))
	if f.goroutines == 0 {
		s.t.Fatalf("it shows no goroutines:\n%s", shown)
	}
	s.log.cut(before)
	return f
}

// cut forgets what was written after a point.
func (b *buffer) cut(at int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Truncate(at)
}

func openFiles(pid int) int {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)) // a process that has ended has none
	return len(files)
}

// resident is how much memory a process holds, in bytes.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kib, err := strconv.ParseInt(strings.Fields(string(rest))[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("the system does not say how much memory a process has")
	return 0
}

func (s *bot) flat(first, now figures) {
	s.t.Helper()
	if now.files > first.files+spareFiles || now.goroutines > first.goroutines+spareGoroutines || now.memory > first.memory+spareMemory {
		s.t.Errorf("it grew: at first %v, now %v", first, now)
	}
}

// outcomes are what came to messages.
type outcomes struct {
	replies, sorries, asked map[string]int
	strange                 []letter
}

// of is how often a message was answered or apologised for.
func (o outcomes) of(u *utterance) int { return o.replies[u.id] + o.sorries[u.id] }

var soakID = regexp.MustCompile(`soak-\d+-`)

// count sorts the letters.
func (s *soak) count() outcomes {
	o := outcomes{replies: map[string]int{}, sorries: map[string]int{}, asked: map[string]int{}}
	inLine, _, _ := strings.Cut(s.words.Say(phrase.InLine, "?"), "?")
	for _, l := range s.mail.all() {
		switch text := l.Text; {
		case strings.HasPrefix(l.ReplyTo, "stop-"):
		case strings.HasPrefix(text, "answer to:"):
			seen := map[string]bool{}
			for _, id := range soakID.FindAllString(text, -1) {
				if !seen[id] {
					o.replies[id]++
				}
				seen[id] = true
			}
		case text == s.words.Say(phrase.Sorry), text == s.words.Say(phrase.CutOff), text == s.words.Say(phrase.LostReply):
			o.sorries[l.ReplyTo]++
		case text == s.words.Say(phrase.EditedAtWork):
			o.asked[l.ReplyTo]++
		case !strings.HasPrefix(text, inLine):
			o.strange = append(o.strange, l)
		}
	}
	return o
}

// check compares what was said with what came.
func (s *soak) check() {
	s.t.Helper()
	o := s.count()
	for _, l := range o.strange {
		s.t.Errorf("nobody asked for this: %+v", l)
	}
	missing := map[string][]string{}
	for i, u := range s.said {
		switch n := o.of(u); {
		case n > 1:
			s.t.Errorf("%s in %s: %d answers and %d apologies", u.id, u.chat, o.replies[u.id], o.sorries[u.id])
		case n > 0 && u.chat == "":
			s.t.Errorf("%s was not taken, and answered", u.id)
		case n == 0 && u.chat != "" && !u.recalled && !s.withAnother(o, i):
			missing[u.chat] = append(missing[u.chat], u.id)
		}
		if o.asked[u.id] > 1 {
			s.t.Errorf("%s: it was asked %d times about an edit", u.id, o.asked[u.id])
		}
	}
	stopped := map[string]int{}
	for _, u := range s.stops {
		texts := s.mail.answers(u.id)
		if len(texts) != 1 {
			s.t.Errorf("%s in %s: the answers %q", u.id, u.chat, texts)
		} else if texts[0] != s.words.Say(phrase.NothingToStop) {
			stopped[u.chat]++
		}
	}
	for chat, ids := range missing {
		if len(ids) > stopped[chat] {
			s.t.Errorf("%s: %v have no answer, and %d turns were stopped", chat, ids, stopped[chat])
		}
	}
	s.edits()
	if s.t.Failed() {
		s.tell()
	}
}

// tell says what was said and what came, in order.
func (s *soak) tell() {
	for _, u := range s.said {
		s.t.Logf("said %+v", *u)
	}
	for _, l := range s.mail.all() {
		s.t.Logf("came %+v", l)
	}
}

// withAnother reports whether a picture may have been in one turn with a later message that stands for it: an apology
// goes to the last message of a turn, and a turn that was stopped is counted once. Pictures join pictures, and the first
// words behind them.
func (s *soak) withAnother(o outcomes, i int) bool {
	if s.said[i].group == 0 {
		return false
	}
	for _, other := range s.said[i+1:] {
		if other.chat != s.said[i].chat {
			continue
		}
		if o.sorries[other.id] > 0 || o.replies[other.id] == 0 && !other.recalled {
			return true
		}
		if other.group == 0 {
			return false
		}
	}
	return false
}

// edits checks that what the agent was told is what somebody said.
func (s *soak) edits() {
	s.t.Helper()
	for _, l := range s.mail.all() {
		if !strings.HasPrefix(l.Text, "answer to:") {
			continue
		}
		for _, u := range s.said {
			if l.ReplyTo == u.id && u.group == 0 && !holds(l.Text, u.versions) {
				s.t.Errorf("%s was never said like this: %q", u.id, l.Text)
			}
		}
	}
}

func holds(text string, versions []string) bool {
	for _, v := range versions {
		if strings.Contains(text, v) {
			return true
		}
	}
	return false
}
