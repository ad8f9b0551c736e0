package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// longestLine is the longest frame that is taken, in bytes; agents send pictures in one line. A longer line is
// skipped, and the connection lives.
const longestLine = 64 << 20

// keptBuffer is the biggest line buffer that is kept for the next line, in bytes.
const keptBuffer = 1 << 20

// errLong says that a line was longer than the limit and has been skipped.
var errLong = errors.New("the line is too long")

// lines cuts a stream into lines, holding at most one of them and never more than limit bytes of it.
type lines struct {
	r     *bufio.Reader
	limit int
	buf   []byte
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next returns the next line without its end; the bytes are good until the call after. errLong is returned for
// a line that was skipped, and the next call goes on behind it. A last line without an end is returned too.
func (l *lines) next() ([]byte, error) {
	if cap(l.buf) > keptBuffer {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	long := false
	for {
		piece, err := l.r.ReadSlice('\n')
		if long = long || len(l.buf)+len(piece) > l.limit; long {
			l.buf = nil
		} else {
			l.buf = append(l.buf, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(l.buf) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		case long:
			return nil, errLong
		}
		return bytes.TrimRight(l.buf, "\r\n"), nil
	}
}

// message is a JSON-RPC message of any kind.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *wireError      `json:"error"`
}

// valid tells a message from some other JSON that a program wrote to its log.
func (m message) valid() bool {
	return m.Method != "" || len(m.ID) > 0 && (len(m.Result) > 0 || m.Error != nil)
}

var bom = []byte("\xef\xbb\xbf")

// parse reads the messages of a line, and counts the bytes in it that belong to none. Most lines are one
// message. Some agents let a log line without an end stand before it, and some write two messages in one line.
func parse(line []byte) (found []message, noise int) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, bom))
	if len(line) == 0 {
		return nil, 0
	}
	if line[0] == '{' {
		var m message
		if json.Unmarshal(line, &m) == nil && m.valid() {
			return []message{m}, 0
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
func parseFrom(text []byte) (found []message, rest int) {
	d := json.NewDecoder(bytes.NewReader(text))
	end := 0
	for {
		var m message
		if d.Decode(&m) != nil || !m.valid() {
			return found, len(text) - end
		}
		found, end = append(found, m), int(d.InputOffset())
	}
}
