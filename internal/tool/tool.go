// Package tool says what a tool is, and holds a box of them. A tool is written once and has many faces: an MCP
// tool, a skill, a slash command, a plain call. The turn is always a parameter: a tool cannot act for somebody
// whom it was not told about.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"familiar/internal/chat"
)

// Effect is the worst that a tool can do.
type Effect string

// The effects, from harmless to costly.
const (
	Reads  Effect = "reads"
	Writes Effect = "writes" // changes what we keep
	Speaks Effect = "speaks" // somebody else sees it
	Spends Effect = "spends" // costs money, or cannot be undone
)

// Tool is something that an agent (or a command) can do. Make one with New.
type Tool struct {
	Name     string // kebab-case: the name of the skill; an MCP client sees the same
	Doc      string // for a model; embedded from the .md file beside the code
	Params   json.RawMessage
	Effect   Effect
	Needs    chat.Trust // least standing that may call it
	Ask      Approval   // whether a person is asked before it runs
	Attempts int        // calls in one turn before the session counts as looping and is ended; 0: no limit

	schema *jsonschema.Resolved
	run    func(ctx context.Context, t chat.Turn, args json.RawMessage) (Result, error)
}

// Result is what a tool answers, as JSON.
type Result struct{ Data json.RawMessage }

// Fault is a refusal that the caller should read and can act on. Status is the HTTP status of the skill API:
// 400 for bad arguments, 404 for something unknown, 429 for a spent quota.
type Fault struct {
	Status int
	Say    string
}

func (f Fault) Error() string { return f.Say }

// Bad is a Fault of status 400.
func Bad(format string, args ...any) Fault { return Fault{400, fmt.Sprintf(format, args...)} }

// New makes a tool whose parameters are derived from A's json and jsonschema tags. Arguments that do not fit
// the schema are refused with a Fault of 400 that names the field; unknown fields are ignored, since models add
// some. run must be safe for concurrent use. New panics when A cannot be a schema: a programmer's error.
func New[A, R any](t Tool, run func(ctx context.Context, turn chat.Turn, args A) (R, error)) Tool {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", t.Name, err))
	}
	schema.AdditionalProperties = nil
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", t.Name, err))
	}
	if t.Params, err = json.Marshal(schema); err != nil {
		panic(fmt.Sprintf("tool %s: %v", t.Name, err))
	}
	t.Doc = strings.TrimSpace(t.Doc)
	t.schema = resolved
	t.run = func(ctx context.Context, turn chat.Turn, raw json.RawMessage) (Result, error) {
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return Result{}, Bad("%s: %v", t.Name, err)
		}
		answer, err := run(ctx, turn, args)
		if err != nil {
			return Result{}, err
		}
		data, err := json.Marshal(answer)
		return Result{Data: data}, err
	}
	return t
}

// check refuses arguments that do not fit the tool's schema.
func (t Tool) check(raw json.RawMessage) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return Bad("%s: the parameters are not JSON: %v", t.Name, err)
	}
	if err := t.schema.Validate(value); err != nil {
		return Bad("%s: %v", t.Name, err)
	}
	return nil
}
