package llm

import (
	"bufio"
	"bytes"
	"io"
)

// events reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). How much it may
// read is bounded by whoever made the reader.
type events struct {
	lines *bufio.Scanner
	begun bool
	cr    bool // the line before ended with CR: an LF that follows belongs to it
}

func newEvents(r io.Reader) *events {
	e := &events{lines: bufio.NewScanner(r)}
	e.lines.Buffer(nil, maxAnswer+1)
	e.lines.Split(e.split)
	return e
}

// event is one that came; Data holds its lines, joined by LF.
type event struct {
	Name string
	Data []byte
}

// next returns the next event that has data. io.EOF comes when the stream ends; an event that is not ended by an
// empty line is dropped, as the standard wants.
func (e *events) next() (event, error) {
	var got event
	var data [][]byte
	for {
		line, err := e.line()
		if err != nil {
			return event{}, err
		}
		if len(line) == 0 {
			if data == nil {
				got.Name = ""
				continue
			}
			got.Data = bytes.Join(data, []byte("\n"))
			return got, nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			got.Name = string(value)
		case "data":
			data = append(data, bytes.Clone(value))
		}
	}
}

// line returns a line without its end.
func (e *events) line() ([]byte, error) {
	if !e.lines.Scan() {
		if err := e.lines.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	line := e.lines.Bytes()
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF")) // the mark of the byte order
	}
	return line, nil
}

// split finds the end of a line, which is LF, CR or both. A last line without an end ends no event, and is dropped.
func (e *events) split(data []byte, _ bool) (advance int, line []byte, err error) {
	begin := 0
	if e.cr && len(data) > 0 && data[0] == '\n' {
		begin = 1
	}
	end := bytes.IndexByte(data[begin:], '\n')
	if cr := bytes.IndexByte(data[begin:][:max(end, 0)], '\r'); cr >= 0 {
		end = cr
	} else if end < 0 {
		end = bytes.IndexByte(data[begin:], '\r')
	}
	if end < 0 {
		return 0, nil, nil
	}
	end += begin
	e.cr = data[end] == '\r'
	return end + 1, data[begin:end], nil
}
