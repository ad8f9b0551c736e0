package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"familiar/internal/chat"
)

// Approval says whether a person is asked before a tool runs.
type Approval string

// The approvals. The zero value asks nobody. Once lets the person say «yes, and not again today»; Always does not, and
// is for what speaks to others or destroys.
const (
	Never  Approval = ""
	Once   Approval = "once"
	Always Approval = "always"
)

// Asker puts a call of a tool that asks before a person. When run is set the call runs at once, since the person has
// said so before; else answer is what the agent is told, and the call will be made when the person says yes. It does
// not wait for the person.
type Asker func(ctx context.Context, t chat.Turn, tool Tool, args json.RawMessage) (answer Asked, run bool, err error)

// Asked is what a tool that asks answers at once.
type Asked struct {
	ID  string `json:"asked"`   // names the question
	Say string `json:"message"` // for the model
}

// NewAskingBox makes a box whose tools that ask are put before a person; see NewBox, whose tools that ask are refused.
func NewAskingBox(ask Asker, seen func(chat.Turn, Call), tools ...Tool) *Box {
	b := NewBox(seen, tools...)
	b.ask = ask
	return b
}

// Schema names the tool's parameters as they are now: what was asked about one schema is not run under another.
func (t Tool) Schema() string {
	sum := sha256.Sum256(append([]byte(t.Name+"\n"), t.Params...))
	return hex.EncodeToString(sum[:16])
}

// asks reports whether a person has to be asked before the tool runs for a turn. What a person does themselves, by a
// command, was asked for by nobody else.
func (t Tool) asks(turn chat.Turn) bool {
	return t.Ask != Never && turn.Kind != chat.Notice
}

// put puts a call before a person.
func (b *Box) put(ctx context.Context, t chat.Turn, found Tool, args json.RawMessage) (Result, bool, error) {
	if b.ask == nil {
		return Result{}, false, Fault{403, found.Name + " needs the yes of a person, and nobody can be asked here"}
	}
	answer, run, err := b.ask(ctx, t, found, args)
	if err != nil || run {
		return Result{}, run, err
	}
	data, err := json.Marshal(answer)
	return Result{Data: data}, false, err
}

// Approved runs what a person has said yes to, in a turn of that kind: by is the trust of whoever said it, which takes
// the place of the turn's own, and schema is the tool's Schema when it was asked. A tool that has changed since is a
// Fault of 409.
func (b *Box) Approved(ctx context.Context, t chat.Turn, by chat.Trust, schema string, call Call) (res Result, err error) {
	return b.recorded(t, call.Tool, call.Args, func() (Result, error) {
		found, ok := b.Find(call.Tool)
		switch {
		case !ok:
			return Result{}, Fault{404, fmt.Sprintf("there is no tool %q", call.Tool)}
		case t.Kind != chat.Approved:
			return Result{}, Fault{403, call.Tool + " runs only in a turn that was approved"}
		case found.Schema() != schema:
			return Result{}, Fault{409, call.Tool + " has changed since it was asked about"}
		case by < found.Needs:
			return Result{}, Fault{403, call.Tool + " needs more trust than whoever said yes has"}
		}
		if err := found.check(call.Args); err != nil {
			return Result{}, err
		}
		return found.guarded(ctx, t, call.Args)
	})
}
