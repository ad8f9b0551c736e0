package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Stats says what a replay met.
type Stats struct {
	Lines   int  // lines that were handed on and not refused
	Skipped int  // lines that were too long, held garbage, or were refused with ErrSkip
	Torn    bool // the last line has no newline
}

// ErrSkip is what the reader of a line returns when the line is not what it understands: the line is counted
// as skipped and reading goes on. It may be wrapped.
var ErrSkip = errors.New("skip this line")

// Replay reads the file at path; see Scan. A missing file is fs.ErrNotExist.
func Replay(path string, fn func(line []byte) error) (Stats, error) {
	file, err := os.Open(path)
	if err != nil {
		return Stats{}, fmt.Errorf("replay: %w", err)
	}
	defer file.Close()
	return Scan(file, fn)
}

// Scan hands every line of r to fn, in order, without its line end. Blank lines, a byte order mark and runs of
// NUL before a line (a disk that lost power leaves them) are dropped; a line that is longer than MaxLine or
// holds NUL elsewhere is skipped and counted. A last line without a newline is handed on too: whether it is
// whole, fn must see. The line is valid only during the call. An error of fn other than ErrSkip ends the scan.
func Scan(r io.Reader, fn func(line []byte) error) (Stats, error) {
	s := scanner{in: bufio.NewReaderSize(r, 64<<10), first: true}
	for {
		line, ok, err := s.next()
		if ok {
			if failed := s.hand(line, fn); failed != nil {
				return s.stats, failed
			}
		}
		if errors.Is(err, io.EOF) {
			return s.stats, nil
		}
		if err != nil {
			return s.stats, fmt.Errorf("read line: %w", err)
		}
	}
}

type scanner struct {
	in    *bufio.Reader
	long  []byte // a line that did not fit the reader's buffer
	first bool
	stats Stats
}

// next returns the next line, without its end; not ok when there is none, or it was too long and is counted.
func (s *scanner) next() (line []byte, ok bool, err error) {
	s.long = s.long[:0]
	tooLong := false
	for {
		piece, err := s.in.ReadSlice('\n')
		whole := err == nil
		if whole {
			piece = piece[:len(piece)-1]
		}
		if len(s.long)+len(piece) > MaxLine {
			tooLong = true
		}
		switch {
		case tooLong:
		case whole && len(s.long) == 0:
			return piece, true, nil
		default:
			s.long = append(s.long, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return s.end(tooLong, err)
	}
}

// end closes a line that was collected in pieces.
func (s *scanner) end(tooLong bool, err error) ([]byte, bool, error) {
	if tooLong {
		s.stats.Skipped++
		s.stats.Torn = err != nil
		return nil, false, err
	}
	if err != nil { // the end of the input: what is there is torn
		s.stats.Torn = len(s.long) > 0
	}
	return s.long, len(s.long) > 0 || err == nil, err
}

// hand gives a line to its reader, unless there is nothing in it.
func (s *scanner) hand(line []byte, fn func([]byte) error) error {
	if s.first {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		s.first = false
	}
	before := len(line)
	line = bytes.TrimLeft(line, "\x00")
	onlyNUL := before > 0 && len(line) == 0
	line = bytes.TrimRight(line, "\r")
	if !onlyNUL && len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	if onlyNUL || bytes.IndexByte(line, 0) >= 0 {
		s.stats.Skipped++
		return nil
	}
	err := fn(line)
	if errors.Is(err, ErrSkip) {
		s.stats.Skipped++
		return nil
	}
	if err == nil {
		s.stats.Lines++
	}
	return err
}
