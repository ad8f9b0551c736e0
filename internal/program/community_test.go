package program

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/phrase"
)

// How much happens in a community when SOAK_MESSAGES and SOAK_PEOPLE do not say otherwise.
const (
	fewMessages = 60
	fewPeople   = 20
)

// mostAtWork is how many messages may be without an answer before the next one is written.
const mostAtWork = 10

// community is a bot on two networks at once.
type community struct {
	*bot
	crowds []crowd
	here   func() bool // whether it is connected to both
	words  phrase.Book
	said   []utter
	owed   map[where]int  // how many messages stand in a place
	open   map[where]bool // those that are not answered fully
	acts   map[string]int
}

// utter is a message of somebody in a community.
type utter struct {
	spot
	act act
	id  string
}

// where is a place of one of the crowds.
type where struct {
	crowd int
	place string
}

func (u utter) at() where { return where{u.act.crowd, u.place} }

func newCommunity(t *testing.T, people int) *community {
	t.Helper()
	words, err := phrase.In("en")
	if err != nil {
		t.Fatal(err)
	}
	d, m := newDiscordCrowd(t, (people+1)/2), newMisskeyCrowd(t, (people+1)/2)
	c := &community{crowds: []crowd{d, m}, here: func() bool { return d.Connected() > 0 && m.Streams() > 0 }, words: words, owed: map[where]int{}, open: map[where]bool{}, acts: map[string]int{}}
	env, err := script.Environment(communityScript())
	if err != nil {
		t.Fatal(err)
	}
	env["GORACE"] = "atexit_sleep_ms=0" // a race-checked process otherwise takes a second to end
	agent, err := json.Marshal(env)
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`{"version": 1, "agent": {"command": %q, "warmSpare": 0, "env": %s}, "server": {"shutdownMs": 500}, "access": {"replyPolicy": "all"},
		"platforms": {"web": {}, %s, %s}}`, os.Args[0], strings.ReplaceAll(string(agent), "${", "$${"), d.section(), m.section())
	c.bot = newBot(t, config, "GORACE=atexit_sleep_ms=0 halt_on_error=0", "GOTRACEBACK=all")
	return c
}

// What the agent remembers of people: what it heard alone must never be told where others listen.
const (
	secretly = "hush "
	openly   = "loud "
)

// communityScript is what the agent does: the message says it.
func communityScript() script.Script {
	call := func(tool, args string) script.Step { return script.Step{Call: tool, Args: json.RawMessage(args)} }
	reply := call("send-reply", `{"message":"answer to {{found}}"}`)
	keep := func(how string) script.Step {
		return call("memory-save", `{"content":"`+how+`{{found}}","importance":"high"}`)
	}
	turn := func(wish string, steps ...script.Step) script.Turn {
		return script.Turn{Found: "- " + wish, Steps: steps}
	}
	alone := turn(fondly, keep(secretly), reply)
	alone.On = ", direct place "
	return script.Script{Find: `soak-\d+- [a-z]+`, Prompts: "prompts.jsonl", Turns: []script.Turn{
		turn(plainly, reply), alone, turn(fondly, keep(openly), reply), turn(gladly, call("react-message", `{"emoji":"👍"}`)),
		turn(hintingly, script.Step{Say: "words that nobody reads"}), turn(hintingly, reply),
		turn(wordless, script.Step{Say: "words that nobody reads"}), turn(badly, script.Step{Fail: "no more"}),
		turn(fatally, script.Step{Panic: "a crash of the agent"}),
	}}
}

// Thousands of messages of hundreds of people on Discord and Misskey at once, while connections break, networks deliver
// twice or have no room, and agents die: each message is answered, or apologised for, exactly once; nothing that was
// remembered in private is told where others listen; and the program is no larger at the end.
// BUG-I10: so with the 10,000 turns of make soak, each of which is briefed with all that is remembered of its person.
func TestSoakCommunity(t *testing.T) {
	seed := fromEnv(t, "SOAK_SEED", time.Now().UnixNano())
	messages, people := fromEnv(t, "SOAK_MESSAGES", fewMessages), fromEnv(t, "SOAK_PEOPLE", fewPeople)
	t.Logf("to choose the same messages again: SOAK_SEED=%d", seed)
	c, p := newCommunity(t, int(people)), newCommunityPlan(seed, int(people+1)/2)
	c.arrive()
	for range min(mostAtWork*2, messages) {
		a := p.next()
		a.trouble, a.murder = -1, false
		c.do(a)
	}
	c.rest()
	first := c.figures()
	c.arrive()
	for i := range messages {
		if i == messages/2 { // by then there is, in memory too, what is kept of so many people; from now on that is all
			c.rest()
			first.memory = max(first.memory, resident(t, c.cmd.Process.Pid))
		}
		c.do(p.next())
	}
	c.rest()
	now := c.figures()
	t.Logf("%d messages of %d people, %v; at first %v, now %v", len(c.said), people, c.acts, first, now)
	c.flat(first, now)
	c.check()
	c.prompts()
	c.nobodyLeft()
}

// arrive starts the program, and waits until it hears.
func (c *community) arrive() {
	c.t.Helper()
	c.start()
	wait(c.t, "the bot is on both networks", c.here)
}

// do lets one act happen, as soon as there is room for it.
func (c *community) do(a act) {
	c.t.Helper()
	c.settle(mostAtWork - 1)
	net := c.crowds[a.crowd]
	if a.trouble >= 0 {
		net.trouble(a.trouble)
		c.acts[fmt.Sprint("trouble ", a.crowd, a.trouble)]++
	}
	u := utter{act: a, id: fmt.Sprint("soak-", len(c.said)+1, "-")}
	u.spot = net.say(a.who, a.alone, u.id+" "+a.wish)
	c.said = append(c.said, u)
	c.owed[u.at()]++
	c.open[u.at()] = true
	c.acts[a.wish]++
	if a.twice {
		net.again(u.spot)
		c.acts["twice"]++
	}
	if tree := descendants(c.cmd.Process.Pid); a.murder && len(tree) > 0 {
		_ = syscall.Kill(tree[len(tree)-1].pid, syscall.SIGKILL) // the deepest; it may have ended
		c.acts["murder"]++
	}
}

// settle waits until so many messages at most have no answer. What was answered fully is not looked at again.
func (c *community) settle(most int) {
	c.t.Helper()
	last, since := -1, time.Now()
	for {
		left := 0
		for at := range c.open {
			if open := c.owed[at] - c.got(at); open > 0 {
				left += open
			} else {
				delete(c.open, at)
			}
		}
		if left <= most {
			return
		}
		if left != last {
			last, since = left, time.Now()
		}
		if time.Since(since) > patience {
			c.check()
			c.t.Fatalf("%d messages have no answer", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// rest waits until everything is answered and no agent is left.
func (c *community) rest() {
	c.t.Helper()
	c.settle(0)
	wait(c.t, "no agent is left", func() bool { return len(descendants(c.cmd.Process.Pid)) == 0 })
}

// got is how many messages of a place are answered, as far as can be told without looking at each.
func (c *community) got(at where) (n int) {
	for _, a := range c.crowds[at.crowd].came(at.place) {
		if c.kind(a) != notice {
			n++
		}
	}
	return n
}
