package script

import (
	"encoding/json"

	"familiar/internal/agent"
)

// Contract returns a script that does what agenttest asks of an agent.
func Contract() Script {
	return Script{Turns: []Turn{
		{On: "PLEASE-SAY", Steps: []Step{{Say: "he"}, {Say: "llo"}}},
		{On: "PLEASE-THINK", Steps: []Step{{Think: "hidden"}, {Say: "shown"}}},
		{On: "PLEASE-NOTE", Steps: []Step{{Call: "note", Args: json.RawMessage(`{"text":"tea"}`)}}},
		{On: "PLEASE-ASK", Steps: []Step{{Ask: AlwaysFirst()}}},
		{On: "PLEASE-WAIT", Steps: []Step{{Say: "waiting"}, {Wait: true}}},
		{On: "PLEASE-SEE", Steps: []Step{{Say: "a picture"}}},
	}}
}

// AlwaysFirst is an ask with the options in the order that several agents have: the lasting yes first.
func AlwaysFirst() *agent.Ask {
	return &agent.Ask{Call: "ask_1", Title: "echo hi", Kind: agent.KindExecute, RawInput: []byte(`{"command":"echo hi"}`),
		Options: []agent.Option{
			{ID: "forever", Name: "Always", Kind: agent.AllowAlways},
			{ID: "now", Name: "Once", Kind: agent.AllowOnce},
			{ID: "no", Name: "No", Kind: agent.RejectOnce},
		}}
}
