package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"familiar/internal/agent"
	"familiar/internal/agent/acp"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/desk/companion"
	"familiar/internal/jsonrpc"
	"familiar/internal/llm"
	"familiar/internal/phrase"
	"familiar/internal/secret"
)

// fails is an agent that gives one error for every session.
type fails struct {
	agent.Agent
	err error
}

func (f fails) Open(context.Context, agent.Opening) (agent.Session, error) { return nil, f.err }

// shows is a network that remembers how turns ended.
type shows struct {
	*network
	able bool
	mu   sync.Mutex
	last []chat.Progress
}

func (n *shows) Abilities() chat.Abilities {
	a := n.network.Abilities()
	a.Progress = n.able
	return a
}

func (n *shows) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	if show, ok := a.(chat.Show); ok {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.last = append(n.last, show.Progress)
		return chat.Receipt{}, nil
	}
	return n.network.Do(ctx, a)
}

func (n *shows) ended() (chat.Progress, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.last {
		if p.Stage == chat.TurnFailed {
			return p, true
		}
	}
	return chat.Progress{}, false
}

// Why a turn failed is for the owner, where nobody else reads it; everybody else gets the neutral sentence alone.
func TestOnlyTheOwnerReadsWhyATurnFailed(t *testing.T) {
	refused := llm.Problem{Kind: llm.BadKey, Say: "Anthropic refuses the key", Err: errors.New("401 hunter2hunter2")}
	for name, c := range map[string]struct {
		err          error
		place, who   string
		reason, next string
	}{
		"the provider refuses":    {refused, "dm1", "boss", "Anthropic refuses the key", string(phrase.NextKey)},
		"any other error":         {errors.New("exec: not found"), "dm1", "boss", "exec: not found", string(phrase.NextLog)},
		"an error with a secret":  {errors.New("bad key hunter2hunter2"), "dm1", "boss", "bad key [REDACTED]", string(phrase.NextLog)},
		"a key known by its form": {errors.New("bad sk-abcdefghijklmnopqrstuv"), "dm1", "boss", "bad [REDACTED]", string(phrase.NextLog)},
		"an error of many lines":  {errors.New("one\n\x1b[31mtwo"), "dm1", "boss", "one [31mtwo", string(phrase.NextLog)},
		"an agent that wants a login": {fmt.Errorf("open session: %w", &jsonrpc.Error{Code: -32000, Message: "sign in"}), "dm1", "boss",
			"open session: the agent answered with error -32000: sign in", string(phrase.NextSignIn)},
		"a model that declines":      {fmt.Errorf("prompt: %w", agent.ErrRefused), "dm1", "boss", "prompt: the model declines to answer", string(phrase.NextDeclined)},
		"a model that never replies": {companion.ErrSilent, "dm1", "boss", "the agent ended its turn twice without a reply", string(phrase.NextSilent)},
		"the owner in a group":       {refused, "hall", "boss", "", ""},
		"somebody else":              {refused, "dm1", "ann", "", ""},
		"what the person reads":      {chat.UserError{Say: "no agent", Err: errors.New("x")}, "dm1", "boss", "", ""},
		"a program that leaves":      {chat.ErrShutdown, "dm1", "boss", "", ""},
		"a platform that shows none": {refused, "dm1", "boss", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			vault := &secret.Vault{}
			vault.Know(secret.New("hunter2hunter2"))
			r := live(t, dir(t), func(cfg *config.Config) { cfg.Bot.Owner = map[string]config.IDs{"net": {"boss"}} })
			net := &shows{network: r.net, able: name != "a platform that shows none"}
			r.agent.Agent, r.platforms["net"], r.Vault = fails{r.agent.Agent, c.err}, net, vault
			r.hears(event(c.place, c.who, "hello"), chat.Accepted)
			r.until("the turn failed", func() bool {
				_, ok := net.ended()
				return (ok || !net.able) && len(r.net.said()) == 1 && r.rooms.Load().Running == 0
			})
			want := chat.Progress{Stage: chat.TurnFailed, Reason: c.reason}
			if c.next != "" {
				want.Next = r.phrases.Say(phrase.Key(c.next), "script")
			}
			if got, ok := net.ended(); ok && got != want {
				t.Errorf("shown %+v, want %+v", got, want)
			}
			r.until("the operator reads more", func() bool {
				return !errors.As(c.err, new(llm.Problem)) || strings.Contains(r.log.String(), "401")
			})
			if said := strings.Join(r.net.said(), ""); c.reason != "" && strings.Contains(said, c.reason) {
				t.Errorf("said %q", said)
			}
		})
	}
}

// Where an agent that nobody named does not start, and a model could answer in its place, the owner reads how.
func TestTheOwnerReadsThatAModelCouldAnswer(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		t.Setenv(name, "")
	}
	broken := fmt.Errorf("open session: %w: %w", acp.ErrStart, &jsonrpc.Error{Code: signInFirst, Message: "sign in"})
	for name, c := range map[string]struct {
		err  error
		key  string
		kind string
		next phrase.Key
	}{
		"found by itself":  {broken, "hunter2hunter2", "auto", phrase.NextBuiltin},
		"no key":           {broken, "", "auto", phrase.NextSignIn},
		"asked for":        {broken, "hunter2hunter2", "acp", phrase.NextSignIn},
		"it fails running": {agent.ErrGone, "hunter2hunter2", "auto", phrase.NextLog},
	} {
		t.Run(name, func(t *testing.T) {
			r := live(t, dir(t), func(cfg *config.Config) {
				cfg.Bot.Owner = map[string]config.IDs{"net": {"boss"}}
				cfg.Agent.Kind, cfg.Agent.AnthropicAPIKey = c.kind, secret.New(c.key)
			})
			net := &shows{network: r.net, able: true}
			r.agent.Agent, r.platforms["net"] = fails{r.agent.Agent, c.err}, net
			r.hears(event("dm1", "boss", "hello"), chat.Accepted)
			r.until("the turn failed", func() bool { _, ok := net.ended(); return ok && r.rooms.Load().Running == 0 })
			if got, _ := net.ended(); got.Next != r.phrases.Say(c.next, "script") {
				t.Errorf("next: %s", got.Next)
			}
		})
	}
}

func TestAReasonIsShort(t *testing.T) {
	got := short(strings.Repeat("長", 1000))
	if n := utf8.RuneCountInString(got); n != maxReason || !strings.HasSuffix(got, "…") {
		t.Errorf("%d runes: %s", n, got)
	}
}

// Every kind of problem has its own next step.
func TestEveryProblemHasANextStep(t *testing.T) {
	for _, kind := range []llm.ProblemKind{llm.BadKey, llm.NoModel, llm.NoCredit, llm.Overfull, llm.Declined,
		llm.Overloaded, llm.Silent, llm.Broken, llm.Unreached} {
		if nextOf(kind) == phrase.NextLog {
			t.Errorf("%s: nothing better than the log", kind)
		}
	}
}

// The page and /status say who thinks before a message leaves.
func TestWhoThinks(t *testing.T) {
	for model, want := range map[string]string{
		"":                            "- Agent: script\n- Model: the agent's own choice\n",
		"sonnet":                      "- Agent: script\n- Model: sonnet\n",
		"anthropic/sonnet":            "- Agent: script\n- Provider: anthropic\n- Model: sonnet\n",
		"openrouter/anthropic/sonnet": "- Agent: script\n- Provider: openrouter\n- Model: anthropic/sonnet\n",
	} {
		r := live(t, dir(t), func(cfg *config.Config) { cfg.Agent.Model = model })
		got, err := r.status(t.Context(), chat.Turn{}, "")
		if err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, %v", model, got, err)
		}
		who := r.state().Agent
		if page := fmt.Sprintf("%s|%s|%s", who.Name, who.Provider, who.Model); !who.Ready || who.Name != "script" ||
			who.Model != "" && !strings.HasSuffix(model, who.Model) {
			t.Errorf("%q: %s", model, page)
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// A model that is found out later is no choice of the agent's, and a name that a provider made up stays one short line.
func TestANameIsOneShortLine(t *testing.T) {
	r := live(t, dir(t), nil)
	page := &Host{own: &builtin{section: llm.Config{Provider: "anthropic"}}, agent: r.agent, phrases: r.phrases}
	if got := strings.Join(page.thinks(), "|"); got != "Agent: script|Provider: Anthropic|Model: not known yet" || !page.mind().Pending {
		t.Errorf("%s", got)
	}
	page.own.section.Model = "a\n- Waiting: 9\x1b[2J\u202e" + strings.Repeat("長", 200)
	who := page.mind()
	if !strings.HasPrefix(who.Model, "a - Waiting: 9[2J長") || len(who.Model) > longestShown+len("…") || who.Pending {
		t.Errorf("shown as %q", who.Model)
	}
	if got := page.thinks(); len(got) != 3 || got[2] != "Model: "+who.Model {
		t.Errorf("%q", got)
	}
}
