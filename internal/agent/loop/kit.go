package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"familiar/internal/agent"
	"familiar/internal/llm"
	"familiar/internal/tool"
	"familiar/internal/toolclient"
)

// kit is the tools of one session, as the model sees them. It never changes once made.
type kit struct {
	offered []llm.Tool
	entries map[string]entry
}

// entry is one tool.
type entry struct {
	kind    agent.ToolKind
	asks    bool            // the Watcher is asked before it runs
	foreign bool            // what it answers lowers the turn
	of      toolclient.Tool // whose it is, where it is foreign
	plan    bool            // it is run by the turn itself
	run     func(ctx context.Context, input json.RawMessage) (outcome, error)
}

// outcome is how a call ended.
type outcome struct {
	text   string
	images []llm.Image
	failed bool
}

// planTool is the name of the tool that Setup.Plan gives.
const planTool = "update_plan"

var planParams = json.RawMessage(`{"type":"object","properties":{"steps":{"type":"array","items":{"type":"string"}}},"required":["steps"]}`)

func newKit(w words, caller tool.Caller, foreign []toolclient.Tool, setup Setup) *kit {
	k := &kit{entries: map[string]entry{}}
	if caller != nil {
		for _, t := range caller.Tools() {
			k.add(t.Name, llm.Tool{Doc: t.Doc, Params: t.Params}, entry{kind: kindOf(t.Effect),
				asks: setup.Asks != nil && setup.Asks(t), run: called(caller, t.Name)})
		}
	}
	if setup.Plan {
		k.add(planTool, llm.Tool{Doc: w.PlanDoc, Params: planParams}, entry{kind: agent.KindThink, plan: true})
	}
	for _, t := range foreign { // a name or an input of theirs must never look like something that is allowed unasked
		k.add(t.Server+"_"+t.Name, llm.Tool{Doc: t.Doc, Params: t.Params}, entry{kind: agent.KindFetch,
			asks: !t.Trusted, foreign: true, of: t, run: abroad(t)})
	}
	return k
}

// add offers a tool under a name that every provider takes and that is not taken yet.
func (k *kit) add(name string, t llm.Tool, e entry) {
	t.Name = plainName(name)
	for n := 2; ; n++ {
		if _, taken := k.entries[t.Name]; !taken {
			break
		}
		tail := fmt.Sprintf("_%d", n)
		whole := plainName(name)
		t.Name = whole[:min(len(whole), longestName-len(tail))] + tail
	}
	k.offered = append(k.offered, t)
	k.entries[t.Name] = e
}

// longestName is the longest name of a tool that every provider takes.
const longestName = 64

// plainName makes a name of letters, digits, - and _, which every provider takes.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), longestName)]
}

// kindOf translates an effect into the protocol's word.
func kindOf(e tool.Effect) agent.ToolKind {
	switch e {
	case tool.Reads:
		return agent.KindRead
	case tool.Writes:
		return agent.KindEdit
	case tool.Spends:
		return agent.KindExecute
	case tool.Speaks:
		return agent.KindOther
	}
	return agent.KindOther
}

// called runs a tool of ours.
func called(caller tool.Caller, name string) func(context.Context, json.RawMessage) (outcome, error) {
	return func(ctx context.Context, input json.RawMessage) (outcome, error) {
		res, err := caller.Call(ctx, name, input)
		return outcome{text: string(res.Data)}, err
	}
}

// abroad runs a tool of somebody else's server.
func abroad(t toolclient.Tool) func(context.Context, json.RawMessage) (outcome, error) {
	return func(ctx context.Context, input json.RawMessage) (outcome, error) {
		res, err := t.Call(ctx, input)
		if errors.Is(err, toolclient.ErrInput) {
			return outcome{}, tool.Bad("%v", err)
		}
		out := outcome{text: res.Text, failed: res.Failed}
		for _, image := range res.Images {
			if mime, _, ok := look(image.Data); ok {
				out.images = append(out.images, llm.Image{MIME: mime, Data: image.Data})
			}
		}
		return out, err
	}
}
