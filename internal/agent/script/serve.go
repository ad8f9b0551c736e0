package script

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"familiar/internal/agent"
)

// Mark is the variable that makes Main play a script: it holds the script as JSON.
const Mark = "FAMILIAR_SCRIPT"

// Main plays the script of the environment as an agent on the standard streams and ends the process; without one
// it returns at once. Call it in TestMain, so that the test's own executable is an agent.
func Main() {
	text, ok := os.LookupEnv(Mark)
	if !ok {
		return
	}
	var s Script
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		fmt.Fprintln(os.Stderr, "the script:", err)
		os.Exit(2)
	}
	if err := ServeACP(os.Stdin, os.Stdout, s); err != nil {
		os.Exit(3)
	}
	os.Exit(0)
}

// Environment returns the variable that makes Main play s.
func Environment(s Script) (map[string]string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the script: %w", err)
	}
	return map[string]string{Mark: string(text)}, nil
}

// errDied says that the script wants the process to end.
var errDied = errors.New("the script ends here")

// ServeACP plays s as an agent that speaks ACP on in and out, until in ends. An error means that the process is to
// end with a status that says so. Turns that still run then are cut off.
func ServeACP(in io.Reader, out io.Writer, s Script) error {
	v := &server{script: s, out: out, waiting: map[int64]chan json.RawMessage{}, died: make(chan struct{})}
	if s.Moods.Stderr != "" {
		fmt.Fprintln(os.Stderr, s.Moods.Stderr)
	}
	ended := make(chan error, 1)
	go func() { ended <- v.read(in) }() // a read of the standard input cannot be called back
	var err error
	select {
	case err = <-ended:
	case <-v.died:
		return errDied
	}
	if s.Moods.IgnoreEOF {
		<-v.died
	}
	return errors.Join(err, s.Moods.hook())
}

// hook is what the agent does when its session ends: it makes the file, and waits until somebody has removed it.
func (m Moods) hook() error {
	if m.Hook == "" {
		return nil
	}
	if err := os.WriteFile(m.Hook, nil, 0o600); err != nil {
		return err
	}
	for {
		if _, err := os.Lstat(m.Hook); err != nil {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}

// frame is any message of the protocol.
type frame struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *fault          `json:"error,omitempty"`
}

type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// server is the agent's end of the connection.
type server struct {
	script Script

	write sync.Mutex
	out   io.Writer
	begun bool

	mu       sync.Mutex
	last     int64
	waiting  map[int64]chan json.RawMessage
	heard    []string
	sessions int
	talk     conversation
	late     []byte // an answer that is given a second time

	once sync.Once
	died chan struct{}
}

// conversation is the one session that a process has.
type conversation struct {
	id      string
	mcp     mcpServer
	prompts int
	found   string
	cancel  context.CancelCauseFunc
}

func (v *server) die() { v.once.Do(func() { close(v.died) }) }

// read takes messages one after the other; prompts run beside it.
func (v *server) read(in io.Reader) error {
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 1 {
			var f frame
			if err := json.Unmarshal(line, &f); err != nil {
				return fmt.Errorf("read a message: %w", err)
			}
			v.take(f)
			if v.script.Moods.Deaf != "" && f.Method == v.script.Moods.Deaf {
				<-v.died
				return errDied
			}
		}
		if err != nil {
			return nil
		}
	}
}

func (v *server) take(f frame) {
	m := v.script.Moods
	if f.Method == "" {
		v.answered(f)
		return
	}
	v.mu.Lock()
	v.heard = append(v.heard, f.Method+" "+string(f.Params))
	v.mu.Unlock()
	switch f.Method {
	case m.Die:
		v.die()
		return
	case m.Silent:
		return
	}
	switch f.Method {
	case "initialize":
		time.Sleep(time.Duration(m.DelayMs) * time.Millisecond)
		answer := m.Init
		if answer == nil {
			answer = json.RawMessage(fmt.Sprintf(`{"protocolVersion":1,"agentCapabilities":{"promptCapabilities":`+
				`{"image":%t},"mcpCapabilities":{"http":true}}}`, !v.script.NoImages))
		}
		v.answer(f, answer, nil)
	case "session/new":
		v.open(f)
	case "session/prompt":
		v.prompt(f)
	case "session/cancel":
		v.mu.Lock()
		cancel := v.talk.cancel
		v.mu.Unlock()
		if cancel != nil && !m.IgnoreCancel {
			cancel(context.Canceled)
		}
	default:
		answer := json.RawMessage(`{}`)
		if m.Keep {
			answer = m.New
		}
		v.answer(f, answer, nil)
	}
}

func (v *server) open(f frame) {
	var p struct {
		MCPServers []mcpServer `json:"mcpServers"`
	}
	_ = json.Unmarshal(f.Params, &p)
	v.mu.Lock()
	v.sessions++
	v.talk = conversation{id: fmt.Sprintf("s%d-%d", os.Getpid(), v.sessions)}
	for _, s := range p.MCPServers {
		if s.Name == "familiar" {
			v.talk.mcp = s
		}
	}
	answer := map[string]json.RawMessage{}
	_ = json.Unmarshal(v.script.Moods.New, &answer)
	answer["sessionId"], _ = json.Marshal(v.talk.id)
	v.mu.Unlock()
	result, _ := json.Marshal(answer)
	v.answer(f, result, nil)
}

func (v *server) prompt(f frame) {
	var p struct {
		Prompt []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	}
	_ = json.Unmarshal(f.Params, &p)
	var said strings.Builder
	for _, block := range p.Prompt {
		said.WriteString(block.Text)
	}
	if err := v.script.keep(said.String()); err != nil {
		v.answer(f, nil, &fault{Code: -32603, Message: err.Error()})
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	v.mu.Lock()
	if v.talk.prompts == 0 {
		v.talk.found = v.script.find(said.String())
	}
	found := v.talk.found
	steps := v.script.pick(said.String(), found, v.talk.prompts)
	v.talk.prompts++
	v.talk.cancel = cancel
	late := v.late
	v.late = nil
	v.mu.Unlock()
	if late != nil {
		v.line(late)
	}
	go v.turn(ctx, f, steps, found)
}

// turn plays a turn and answers its prompt.
func (v *server) turn(ctx context.Context, f frame, steps []Step, found string) {
	defer func() {
		if recover() != nil {
			v.die()
		}
	}()
	result, err := play(ctx, steps, found, outside{v})
	switch {
	case ctx.Err() != nil:
		answer := v.answer(f, json.RawMessage(`{"stopReason":"cancelled"}`), nil)
		if v.script.Moods.TwoAnswers {
			v.mu.Lock()
			v.late = answer
			v.mu.Unlock()
		}
	case errors.Is(err, errDied):
		v.die()
	case err != nil:
		v.answer(f, nil, &fault{Code: -32603, Message: err.Error()})
	default:
		raw, _ := json.Marshal(struct {
			Stop  agent.StopReason `json:"stopReason"`
			Usage any              `json:"usage,omitempty"`
		}{result.Stop, map[string]int{"inputTokens": result.Usage.Input, "outputTokens": result.Usage.Output,
			"totalTokens": result.Usage.Total}})
		v.answer(f, raw, nil)
	}
}
