package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/chat"
	"familiar/internal/jsonrpc"
	"familiar/internal/llm"
)

// codeAuth is the protocol's code for a provider that wants a key first.
const codeAuth = -32000

// noProvider says what to set where there is no provider. The configuration of a bot, which llm.ErrNone names, does not
// count here.
const noProvider = "there is no model provider: put a key such as ANTHROPIC_API_KEY into the agent's environment, " +
	"or LLM_PROVIDER with LLM_BASE_URL"

// errBusy refuses a request when too many are being worked on.
var errBusy = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "too much is being done at once; try again later"}

// take takes what the client asks, in order. What is quick is done at once, so that what comes behind finds it done;
// the rest runs beside the reader.
func (s *server) take(m *jsonrpc.Message) {
	if !jsonrpc.ReadID(m.ID).Known {
		s.notice(m)
		return
	}
	switch m.Method {
	case sdk.AgentMethodInitialize:
		answer(s, m, s.initialize)
	case sdk.AgentMethodAuthenticate:
		answer(s, m, s.authenticate)
	case sdk.AgentMethodSessionList:
		answer(s, m, s.list)
	case sdk.AgentMethodSessionSetMode:
		answer(s, m, s.setMode)
	case sdk.AgentMethodSessionSetConfigOption:
		answer(s, m, s.setOption)
	case sdk.AgentMethodSessionNew:
		s.beside(m, func() { answer(s, m, s.open) })
	case sdk.AgentMethodSessionLoad:
		s.beside(m, func() { answer(s, m, s.load) })
	case sdk.AgentMethodSessionResume:
		s.beside(m, func() { answer(s, m, s.resume) })
	case sdk.AgentMethodSessionClose:
		s.beside(m, func() { answer(s, m, s.closeSession) })
	case sdk.AgentMethodSessionPrompt:
		s.prompt(m)
	default:
		s.conn.reply(m.ID, nil, &jsonrpc.Error{Code: jsonrpc.CodeUnknown, Message: "method not found"})
	}
}

// beside runs f beside the reader, or refuses the request.
func (s *server) beside(m *jsonrpc.Message, f func()) {
	if !s.work(f) {
		s.conn.reply(m.ID, nil, errBusy)
	}
}

// notice takes a notification; those that we do not know are ignored.
func (s *server) notice(m *jsonrpc.Message) {
	if m.Method != sdk.AgentMethodSessionCancel {
		return
	}
	var p sdk.CancelNotification
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	if open, err := s.session(p.SessionId); err == nil {
		open.cancel()
	}
}

// answer works on a request and answers it, whatever happens.
func answer[P, R any](s *server, m *jsonrpc.Message, do func(context.Context, P) (R, error)) {
	result, err := handled(s, m, do)
	if err != nil {
		s.conn.reply(m.ID, nil, s.fault(m.Method, err))
		return
	}
	s.conn.reply(m.ID, result, nil)
}

func handled[P, R any](s *server, m *jsonrpc.Message, do func(context.Context, P) (R, error)) (raw json.RawMessage, err error) {
	defer s.recovered(&err)
	var params P
	if err := decode(m, &params); err != nil {
		return nil, err
	}
	result, err := do(s.ctx, params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// recovered makes an error of a panic.
func (s *server) recovered(err *error) {
	if r := recover(); r != nil {
		s.o.Log.Error("a request panicked", chat.KeyErr, fmt.Sprint(r), "stack", string(debug.Stack()))
		*err = errors.New("internal error")
	}
}

func decode[P any](m *jsonrpc.Message, params *P) error {
	if err := json.Unmarshal(m.Params, params); err != nil {
		return bad("the parameters of %s cannot be read", m.Method)
	}
	return nil
}

func bad(format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: fmt.Sprintf(format, args...)}
}

func refused(format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeRefused, Message: fmt.Sprintf(format, args...)}
}

// fault makes an error into what the client is told. A Problem may be shown; other errors of ours are the operator's.
func (s *server) fault(method string, err error) *jsonrpc.Error {
	var told *jsonrpc.Error
	if errors.As(err, &told) {
		return told
	}
	var problem llm.Problem
	switch {
	case errors.Is(err, llm.ErrNone):
		return &jsonrpc.Error{Code: codeAuth, Message: noProvider}
	case errors.As(err, &problem) && problem.Kind == llm.BadKey:
		return &jsonrpc.Error{Code: codeAuth, Message: problem.In("en")}
	case errors.As(err, &problem):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: problem.In("en")}
	case errors.Is(err, chat.ErrTooLong):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the turn took longer than a turn may"}
	case errors.Is(err, errLeft), errors.Is(err, chat.ErrShutdown):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the agent is leaving"}
	}
	s.o.Log.Error("a request failed", "method", method, chat.KeyErr, err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "internal error; the agent's log says more"}
}
