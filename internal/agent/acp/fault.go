package acp

import (
	"encoding/json"
	"fmt"
)

// The JSON-RPC codes that we send.
const (
	codeRefused  = -32600 // a file that the agent may not touch
	codeUnknown  = -32601 // a method that we do not offer
	codeParams   = -32602
	codeInternal = -32603
)

// wireError is a JSON-RPC error.
type wireError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error shows the code and the message, both cut short: an agent puts the provider's own words there. Data is
// left out, since some agents put the whole request into it.
func (e *wireError) Error() string {
	return fmt.Sprintf("the agent answered with error %d: %s", e.Code, short(e.Message, 300))
}

// short cuts text to at most limit bytes, at a rune's border.
func short(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xc0 == 0x80 {
		limit--
	}
	return text[:limit] + "…"
}
