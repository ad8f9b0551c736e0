package jsonrpc

import (
	"bytes"
	"encoding/json"
)

// Message is a JSON-RPC message of any kind.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// Valid tells a message from some other JSON that a program wrote to its log.
func (m Message) Valid() bool {
	return m.Method != "" || len(m.ID) > 0 && (len(m.Result) > 0 || m.Error != nil)
}

var bom = []byte("\xef\xbb\xbf")

// Parse reads the messages of a line, and counts the bytes in it that belong to none. Most lines are one
// message. Some agents let a log line without an end stand before it, and some write two messages in one line.
func Parse(line []byte) (found []Message, noise int) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, bom))
	if len(line) == 0 {
		return nil, 0
	}
	if line[0] == '{' {
		var m Message
		if json.Unmarshal(line, &m) == nil && m.Valid() {
			return []Message{m}, 0
		}
	}
	for _, start := range starts(line) {
		if found, rest := parseFrom(line[start:]); len(found) > 0 {
			return found, start + rest
		}
	}
	return nil, len(line)
}

// starts returns where a message may begin inside a line with noise: at most two places, so that a line of
// nothing but braces costs no more than any other.
func starts(line []byte) []int {
	var at []int
	if i := bytes.IndexByte(line, '{'); i >= 0 {
		at = append(at, i)
	}
	if i := bytes.Index(line, []byte(`{"jsonrpc"`)); i > 0 && (len(at) == 0 || i != at[0]) {
		at = append(at, i)
	}
	return at
}

// parseFrom reads messages one after the other, and returns how many bytes are left behind the last one.
func parseFrom(text []byte) (found []Message, rest int) {
	d := json.NewDecoder(bytes.NewReader(text))
	end := 0
	for {
		var m Message
		if d.Decode(&m) != nil || !m.Valid() {
			return found, len(text) - end
		}
		found, end = append(found, m), int(d.InputOffset())
	}
}
