package program

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/phrase"
)

// soak is a bot that many things happen to.
type soak struct {
	*bot
	mail   *mailbox
	words  phrase.Book
	said   []*utterance
	stops  []*utterance
	groups int
	steps  map[deed]int
}

// utterance is a message of a person, with what became of it as far as its sender knows.
type utterance struct {
	id       string
	chat     string
	group    int // of an album; 0 for none
	versions []string
	recalled bool
}

// newSoak makes the bot; its agent is this test's executable, and does as the chat is named.
func newSoak(t *testing.T) *soak {
	words, err := phrase.In("en")
	if err != nil {
		t.Fatal(err)
	}
	s := &soak{mail: newMailbox(t), words: words, steps: map[deed]int{}}
	reply := script.Step{Call: "send-reply", Args: json.RawMessage(`{"message":"answer to:\n{{found}}"}`)}
	turn := func(manner string, steps ...script.Step) script.Turn {
		return script.Turn{On: " place " + manner, Steps: steps}
	}
	env, err := script.Environment(script.Script{Find: `(?ms)^## Current Message\n.*^END CONTEXT`, Turns: []script.Turn{
		turn(quickly, reply),
		turn(slowly, script.Step{Pause: 150}, reply, script.Step{Pause: 150}),
		turn(silently, script.Step{Say: "words that nobody reads"}),
		turn(failingly, script.Step{Fail: "no more"}),
		turn(dyingly, script.Step{Panic: "a crash of the agent"}),
		turn(endlessly, script.Step{Wait: true}),
		{Steps: []script.Step{reply}}, // the second prompt of a silent turn
	}})
	if err != nil {
		t.Fatal(err)
	}
	env["GORACE"] = "atexit_sleep_ms=0" // a race-checked process otherwise takes a second to end
	agent, err := json.Marshal(env)
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`{"version": 1, "agent": {"command": %q, "warmSpare": 0, "env": %s}, "server": {"shutdownMs": 500}, "access": {"replyPolicy": "all", "joinMs": 200},
		"platforms": {"web": {}, "webhook": {"secret": %q, "replyUrl": %q, "retryMs": 100}}}`,
		os.Args[0], strings.ReplaceAll(string(agent), "${", "$${"), soakSecret, s.mail.URL)
	s.bot = newBot(t, config, "GORACE=atexit_sleep_ms=0 halt_on_error=0", "GOTRACEBACK=all")
	return s
}

// do takes one step.
func (s *soak) do(p step) {
	s.t.Helper()
	s.steps[p.deed]++
	switch p.deed {
	case saying:
		s.say(p.chat, "well?", 0)
	case sharing:
		s.groups++
		for range p.parts {
			s.say(p.chat, "", s.groups)
		}
	case editing:
		s.edit(p.chat, p.back)
	case recalling:
		s.recall(p.chat, p.back)
	case stopping:
		s.stopIn(p.chat)
	case pausing:
		time.Sleep(p.after) // what varies here is time itself
	case murder:
		if tree := descendants(s.cmd.Process.Pid); len(tree) > 0 {
			_ = syscall.Kill(tree[len(tree)-1].pid, syscall.SIGKILL) // the deepest; it may have ended
		}
	case killing:
		s.killWhile(p)
	case leaving:
		if code := s.stop(); code != 0 {
			s.t.Errorf("it ended with %d", code)
		}
		s.start()
	}
}

// send posts a note until it is answered; a program that was killed under it is started by whoever killed it.
func (s *soak) send(n note) (accepted bool) {
	s.t.Helper()
	n.User = "user of " + n.Chat
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		status, accepted, err := s.post(n)
		switch {
		case err == nil && status == http.StatusAccepted:
			return accepted
		case err == nil && status == http.StatusServiceUnavailable:
			return false // no room: it may be said again, and need not
		case err == nil:
			s.t.Fatalf("%+v: status %d", n, status)
		case time.Now().After(deadline):
			s.t.Fatalf("%+v: %v", n, err)
		}
	}
}

// say posts a message; one without words is a picture.
func (s *soak) say(chat, words string, group int) *utterance {
	s.t.Helper()
	u := &utterance{id: fmt.Sprint("soak-", len(s.said)+1, "-"), chat: chat, group: group}
	n := note{Chat: chat, Message: u.id}
	if words == "" {
		n.Attachments = []picture{{"image", "image/png", u.id + ".png"}}
	} else {
		n.Text = u.id + " " + words
	}
	u.versions = []string{n.Text}
	s.said = append(s.said, u)
	if !s.send(n) {
		u.chat = "" // it was not taken, and nothing may come
	}
	return u
}

// lately is one of the newest messages of a chat, nil when there are not so many.
func (s *soak) lately(chat string, back int) *utterance {
	for i := len(s.said) - 1; i >= 0; i-- {
		if u := s.said[i]; u.chat == chat && !u.recalled {
			if back == 0 {
				return u
			}
			back--
		}
	}
	return nil
}

func (s *soak) edit(chat string, back int) {
	s.t.Helper()
	if u := s.lately(chat, back); u != nil {
		text := fmt.Sprint(u.id, " edited ", len(u.versions))
		u.versions = append(u.versions, text)
		s.send(note{Type: "edit", Chat: chat, Message: u.id, Text: text})
	}
}

func (s *soak) recall(chat string, back int) {
	s.t.Helper()
	if u := s.lately(chat, back); u != nil {
		u.recalled = true
		s.send(note{Type: "recall", Chat: chat, Message: u.id})
	}
}

func (s *soak) stopIn(chat string) *utterance {
	s.t.Helper()
	u := &utterance{id: fmt.Sprint("stop-", len(s.stops)+1, "-"), chat: chat}
	s.stops = append(s.stops, u)
	s.send(note{Chat: chat, Message: u.id, Text: "/stop"})
	return u
}

// killWhile kills the program some time after a message set out for it, starts it again, and sees the message there.
func (s *soak) killWhile(p step) {
	s.t.Helper()
	var meanwhile worker
	tree := make(chan []task, 1)
	dead := *s.bot
	meanwhile.Go(func() {
		time.Sleep(p.after)
		below := freeze(dead.cmd.Process)
		dead.kill()
		tree <- below
	})
	u := &utterance{id: fmt.Sprint("soak-", len(s.said)+1, "-"), chat: p.chat}
	n := note{Chat: p.chat, User: "user of " + p.chat, Message: u.id, Text: u.id + " while you die"}
	u.versions = []string{n.Text}
	s.said = append(s.said, u)
	status, _, err := s.post(n)
	s.gone(<-tree)
	meanwhile.wait()
	s.start()
	if refused := err == nil && status == http.StatusServiceUnavailable; refused || err != nil && !s.send(n) {
		u.chat = ""
	}
}

// settle waits until everything that was said is answered: a last message in each chat is answered after all others.
func (s *soak) settle() {
	s.t.Helper()
	chats := map[string]*utterance{}
	for i, manner := range manners {
		if chat := fmt.Sprint(manner, "-", i); manner != endlessly {
			chats[chat] = s.last(chat)
			continue
		}
		s.stopAll(fmt.Sprint(manner, "-", i))
	}
	for chat, u := range chats {
		wait(s.t, "the last message of "+chat+" is answered", func() bool { return s.resolved(u) })
	}
	wait(s.t, "no agent is left", func() bool { return len(descendants(s.cmd.Process.Pid)) == 0 })
}

// last says something until there is room for it.
func (s *soak) last(chat string) *utterance {
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if u := s.say(chat, "last", 0); u.chat != "" || time.Now().After(deadline) {
			return u
		}
	}
}

// stopAll ends the turns of a chat one after the other, until nothing runs.
func (s *soak) stopAll(chat string) {
	s.t.Helper()
	for idle := 0; idle < 2; {
		u := s.stopIn(chat)
		wait(s.t, "a stop in "+chat+" is answered", func() bool { return len(s.mail.answers(u.id)) > 0 })
		if idle++; s.mail.answers(u.id)[0] != s.words.Say(phrase.NothingToStop) {
			idle = 0
		} else {
			time.Sleep(300 * time.Millisecond) // longer than an album waits for its rest
		}
	}
}

func (s *soak) resolved(u *utterance) bool {
	return s.count().of(u) > 0
}
