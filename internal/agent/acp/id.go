package acp

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// longestID is the longest id that we compare, in bytes; a longer one matches nothing.
const longestID = 256

// id is a JSON-RPC id in one canonical form, so that 1, 1.0 and 1e0 are one id and two big integers that a float
// would round together are two. A string and a number of the same digits are twins: different ids, but an agent
// that answers with the wrong one of the two means the other.
type id struct {
	text  string // a string's own text, or a number's canonical digits
	str   bool
	known bool // false: missing, null, or nothing that can be an id
}

// number returns the id that we gave a call of ours.
func number(n int64) id { return id{text: strconv.FormatInt(n, 10), known: true} }

// twin returns the id of the other type.
func (i id) twin() id { return id{text: i.text, str: !i.str, known: i.known} }

// readID makes the canonical form of an id as it came.
func readID(raw json.RawMessage) id {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || len(raw) > longestID || bytes.Equal(raw, []byte("null")) {
		return id{}
	}
	if raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return id{}
		}
		return id{text: s, str: true, known: true}
	}
	var n json.Number
	if json.Unmarshal(raw, &n) != nil {
		return id{}
	}
	return id{text: digits(n.String()), known: true}
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
