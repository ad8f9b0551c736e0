package acp

import "familiar/internal/jsonrpc"

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
