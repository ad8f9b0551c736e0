package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// The files that a warden starts with.
const (
	fdStdin   = iota // the program's own three
	fdStdout         //
	fdStderr         //
	fdCommand        // orders; its end means that the host is gone
	fdStatus         // reports
	wardenFiles
)

// order is what the host tells the warden: first what to start, later to stop. Bytes, so that arguments and
// variables which are not UTF-8 arrive as they are.
type order struct {
	Path    []byte   `json:"path,omitempty"`
	Args    [][]byte `json:"args,omitempty"`
	Env     [][]byte `json:"env,omitempty"`
	Dir     []byte   `json:"dir,omitempty"`
	Confine bool     `json:"confine,omitempty"`
	Read    [][]byte `json:"read,omitempty"`
	Write   [][]byte `json:"write,omitempty"`
	Sockets bool     `json:"sockets,omitempty"`

	Isolation Isolation `json:"isolation,omitempty"`

	Stop   bool  `json:"stop,omitempty"`
	TermMs int64 `json:"termMs,omitempty"`
}

// argv is the program's arguments with its own name first.
func (o order) argv() []string { return append([]string{string(o.Path)}, cooked(o.Args)...) }

// report is what the warden tells the host.
type report struct {
	Started int    `json:"started,omitempty"` // the program's process id
	Error   string `json:"error,omitempty"`   // why it could not be started
	Exited  bool   `json:"exited,omitempty"`
	Code    int    `json:"code,omitempty"`
	Signal  int    `json:"signal,omitempty"`
}

const (
	maxOrder  = 8 << 20  // bytes; an environment and its paths are far smaller
	maxReport = 16 << 10 // bytes
)

// send writes one message as one line.
func send[T order | report](to *os.File, message T) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = to.Write(append(line, '\n'))
	return err
}

// receive reads one report. Reports are few and short, so it reads byte by byte and keeps nothing back.
func receive(from io.Reader) (report, error) {
	var r report
	line := make([]byte, 0, 128)
	var b [1]byte
	for {
		if _, err := io.ReadFull(from, b[:]); err != nil {
			return r, err
		}
		if b[0] == '\n' {
			return r, json.Unmarshal(line, &r)
		}
		if line = append(line, b[0]); len(line) > maxReport {
			return r, errors.New("the report is too long")
		}
	}
}

func raw(texts []string) [][]byte {
	list := make([][]byte, len(texts))
	for i, t := range texts {
		list[i] = []byte(t)
	}
	return list
}

func cooked(list [][]byte) []string {
	texts := make([]string, len(list))
	for i, b := range list {
		texts[i] = string(b)
	}
	return texts
}
