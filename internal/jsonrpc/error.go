package jsonrpc

import (
	"encoding/json"
	"fmt"
)

// The codes that we send.
const (
	CodeNoMessage = -32700 // what came is no message
	CodeRefused   = -32600 // what is asked for may not be, or not now
	CodeUnknown   = -32601 // a method that we do not offer
	CodeParams    = -32602
	CodeInternal  = -32603
)

// Error is a JSON-RPC error.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error shows the code and the message, both cut short: an agent puts the provider's own words there. Data is
// left out, since some agents put the whole request into it.
func (e *Error) Error() string {
	return fmt.Sprintf("the agent answered with error %d: %s", e.Code, Short(e.Message, 300))
}

// Short cuts text to at most limit bytes, at a rune's border.
func Short(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xc0 == 0x80 {
		limit--
	}
	return text[:limit] + "…"
}
