package jsonrpc

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// longestID is the longest id that we compare, in bytes; a longer one matches nothing.
const longestID = 256

// ID is a JSON-RPC id in one canonical form, so that 1, 1.0 and 1e0 are one id and two big integers that a float
// would round together are two. A string and a number of the same digits are twins: different ids, but an agent
// that answers with the wrong one of the two means the other.
type ID struct {
	Text  string // a string's own text, or a number's canonical digits
	str   bool
	Known bool // false: missing, null, or nothing that can be an id
}

// Number returns the id that we gave a call of ours.
func Number(n int64) ID { return ID{Text: strconv.FormatInt(n, 10), Known: true} }

// Twin returns the id of the other type.
func (i ID) Twin() ID { return ID{Text: i.Text, str: !i.str, Known: i.Known} }

// ReadID makes the canonical form of an id as it came.
func ReadID(raw json.RawMessage) ID {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || len(raw) > longestID || bytes.Equal(raw, []byte("null")) {
		return ID{}
	}
	if raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return ID{}
		}
		return ID{Text: s, str: true, Known: true}
	}
	var n json.Number
	if json.Unmarshal(raw, &n) != nil {
		return ID{}
	}
	return ID{Text: digits(n.String()), Known: true}
}

// digits writes a JSON number so that equal integers have equal digits; what is not a whole number stays as it is.
func digits(n string) string {
	if whole, fraction, found := strings.Cut(n, "."); found && strings.Trim(fraction, "0") == "" {
		n = whole
	}
	if strings.ContainsAny(n, "eE.") {
		f, err := strconv.ParseFloat(n, 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			return n
		}
		return strconv.FormatInt(int64(f), 10)
	}
	if n == "-0" {
		return "0"
	}
	return n
}
