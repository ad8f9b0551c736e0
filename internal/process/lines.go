package process

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxLine is where a line of standard error is cut, in bytes.
const maxLine = 4 << 10

// readLines gives every line of r to line, cut at maxLine, until r ends. The memory it takes does not depend on
// what arrives.
func readLines(r io.Reader, line func(string)) {
	in := bufio.NewReaderSize(r, maxLine)
	for cut := false; ; {
		piece, err := in.ReadSlice('\n')
		if len(piece) > 0 && !cut && line != nil {
			line(strings.ToValidUTF8(string(bytes.TrimRight(piece, "\r\n")), "\uFFFD"))
		}
		cut = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !cut {
			return
		}
	}
}
