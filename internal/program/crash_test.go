package program

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent/script"
)

// crashPoints is how often the program is killed when CRASH_POINTS does not say otherwise.
const crashPoints = 25

// The delays after what a kill waits for. They are what this test varies, not a condition that it waits for: spread
// evenly over the magnitudes, so that both the microseconds of a commit and the start of an agent are hit.
const (
	shortest = 10 * time.Microsecond
	longest  = 400 * time.Millisecond
	starting = 100 * time.Millisecond // how long a start that is killed lives: until about ready,
	resuming = 700 * time.Millisecond // or until it has taken up again what was left
	tooLong  = 2 * time.Second        // what does not come is not waited for
)

// The whole program is killed with SIGKILL again and again in the midst of a conversation, also while it recovers.
// Afterwards no accepted event and no memory line is missing, and no reply was sent twice.
func TestCrash(t *testing.T) {
	seed := fromEnv(t, "CRASH_SEED", time.Now().UnixNano())
	points := int(fromEnv(t, "CRASH_POINTS", crashPoints))
	t.Logf("%d points; to choose them again: CRASH_SEED=%d", points, seed)
	b := newBot(t, crashConfig(t), "GORACE=atexit_sleep_ms=0 halt_on_error=0")
	c := &conversation{bot: b, rng: rand.New(rand.NewPCG(uint64(seed), 0))}
	b.start()
	for n := range points {
		c.point(n)
	}
	var last worker
	c.settle(&last)
	lines := c.streams()
	tree := descendants(b.cmd.Process.Pid)
	if code := b.stop(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	last.wait()
	c.gone(tree)
	c.check(lines)
}

func fromEnv(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// crashConfig is a bot whose agent is this test's executable: it saves a memory for each message and answers with
// what the tool said, in the ways that the sessions are named for.
func crashConfig(t *testing.T) string {
	t.Helper()
	call := func(tool, args string) script.Step { return script.Step{Call: tool, Args: json.RawMessage(args)} }
	save := call("memory-save", `{"content":"{{found}} drinks tea"}`)
	reply := call("send-reply", `{"message":"answer to {{found}}: {{answer}}"}`)
	env, err := script.Environment(script.Script{Find: `crash-\d+`, Turns: []script.Turn{
		{On: plain, Steps: []script.Step{save, reply}},
		{On: silent, Steps: []script.Step{{Say: "words that nobody reads"}}},
		{On: talkative, Steps: []script.Step{save, reply, reply, call("memory-save", `{"content":"{{found}} drinks it late"}`)}},
		{On: failing, Steps: []script.Step{call("memory-save", `{"content":"{{found}} drinks nothing"}`), {Fail: "no more"}}},
		{Steps: []script.Step{save, reply}}, // the second prompt of a silent turn
	}})
	if err != nil {
		t.Fatal(err)
	}
	env["GORACE"] = "atexit_sleep_ms=0" // a race-checked process otherwise takes a second to end
	text, err := json.Marshal(struct {
		Version int `json:"version"`
		Agent   any `json:"agent"`
	}{1, struct {
		Command string            `json:"command"`
		Env     map[string]string `json:"env"`
	}{os.Args[0], env}})
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "${", "$${")
}

// moment is when the program is killed: some time after something was seen so many times.
type moment struct {
	what  string
	count int
	after time.Duration
}

func (m moment) String() string { return fmt.Sprintf("%v after %s %d", m.after, m.what, m.count) }

// posting is seen when posts begin, and acknowledged when one was answered; the rest are lines of the streams.
const (
	posting      = "posting"
	acknowledged = "202"
)

func (c *conversation) moment() moment {
	m := moment{what: posting, count: 1, after: c.delay(longest)}
	phases := []string{posting, acknowledged, acknowledged, "turn.started", "turn.started", "actions.requested",
		"action.result", "message.completed", "message.completed", "turn.completed", "session.waiting"}
	if m.what = phases[c.rng.IntN(len(phases))]; m.what != posting {
		m.count += c.rng.IntN(4)
	}
	return m
}

func (c *conversation) delay(most time.Duration) time.Duration {
	few, many := math.Log(float64(shortest)), math.Log(float64(most))
	return time.Duration(math.Exp(few + c.rng.Float64()*(many-few)))
}

// point lets people talk, kills the program in the midst of it, perhaps again while it starts, and starts it.
func (c *conversation) point(n int) {
	c.t.Helper()
	m := c.moment()
	c.seen = make(chan string, 1024)
	var talking worker
	c.watch(&talking)
	c.talk(&talking)
	met := c.await(m)
	tree := freeze(c.cmd.Process)
	c.kill()
	talking.wait()
	c.gone(tree)
	var starts []time.Duration
	for c.rng.IntN(3) == 0 {
		life := time.Duration(c.rng.Int64N(int64([]time.Duration{starting, resuming}[c.rng.IntN(2)])))
		starts = append(starts, life)
		c.stumble(life)
	}
	c.t.Logf("point %d: %v (met: %v), starts killed: %v", n+1, m, met, starts)
	c.start()
	c.gone(tree)
}

// await returns when the moment has come, and whether what it waits for was seen.
func (c *conversation) await(m moment) (met bool) {
	limit := time.NewTimer(tooLong)
	defer limit.Stop()
	for seen := 0; seen < m.count; {
		select {
		case what := <-c.seen:
			if what == m.what {
				seen++
			}
		case <-limit.C:
			return false
		}
	}
	time.Sleep(m.after)
	return true
}

// stumble starts the program and kills it soon.
func (c *conversation) stumble(life time.Duration) {
	c.t.Helper()
	cmd := c.command("up", "--dir", c.dir, "--port", "0", "--no-open")
	cmd.Stdout, cmd.Stderr = c.log, c.log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(life)
	tree := freeze(cmd.Process)
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // «killed» is no news
	c.gone(tree)
}
