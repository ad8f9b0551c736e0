package acp

import (
	"encoding/json"
	"errors"
	"fmt"

	"familiar/internal/jsonrpc"
)

// The JSON-RPC codes that we send.
const (
	codeRefused  = jsonrpc.CodeRefused // a file that the agent may not touch
	codeUnknown  = jsonrpc.CodeUnknown
	codeParams   = jsonrpc.CodeParams
	codeInternal = jsonrpc.CodeInternal
)

// message is a message of the agent.
type message struct{ jsonrpc.Message }

type wireError = jsonrpc.Error

func short(text string, limit int) string { return jsonrpc.Short(text, limit) }

// spelt adds to an agent's error what went wrong, for an agent that keeps that in the error's data.
func (s *session) spelt(err error) error {
	var answer *wireError
	if !errors.As(err, &answer) || len(answer.Data) == 0 {
		return err
	}
	var data map[string]json.RawMessage
	if json.Unmarshal(answer.Data, &data) != nil {
		return err
	}
	for _, key := range s.agent.profile.ErrorIn {
		var words string
		if json.Unmarshal(data[key], &words) == nil && words != "" {
			return fmt.Errorf("%w: %s", err, short(s.agent.deps.Vault.Mask(words), 300))
		}
	}
	return err
}
