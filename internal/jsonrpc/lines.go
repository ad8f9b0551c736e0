// Package jsonrpc reads and writes JSON-RPC 2.0 as agents speak it over standard streams: one message in a line. What
// is read may come from anybody: lines are bounded, noise between messages is passed over, ids are compared by what
// they mean. It keeps no connection; whoever has one builds it on this.
package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// LongestLine is the longest frame that is taken, in bytes; agents send pictures in one line. A longer line is
// skipped, and the connection lives.
const LongestLine = 64 << 20

// keptBuffer is the biggest line buffer that is kept for the next line, in bytes.
const keptBuffer = 1 << 20

// ErrLong says that a line was longer than the limit and has been skipped.
var ErrLong = errors.New("the line is too long")

// Lines cuts a stream into lines, holding at most one of them and never more than limit bytes of it.
type Lines struct {
	r     *bufio.Reader
	limit int
	buf   []byte
}

// NewLines cuts r into lines of at most limit bytes.
func NewLines(r io.Reader, limit int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 16<<10), limit: limit}
}

// Next returns the next line without its end; the bytes are good until the call after. ErrLong is returned for
// a line that was skipped, and the next call goes on behind it. A last line without an end is returned too.
func (l *Lines) Next() ([]byte, error) {
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
			return nil, ErrLong
		}
		return bytes.TrimRight(l.buf, "\r\n"), nil
	}
}
