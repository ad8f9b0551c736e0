package acp

import (
	"familiar/internal/process"
)

// child is a running agent process, as much of it as a session needs.
type child struct {
	in   writePipe
	out  readPipe
	done <-chan struct{} // closed when the process and all its descendants are gone
	err  func() error    // why it ended; only after done
	stop func() error    // ends the whole tree and waits for it
}

// launched wraps a process that was started.
func launched(p *process.Process, g process.Grace) *child {
	return &child{in: p.Stdin(), out: p.Stdout(), done: p.Done(), err: p.Err, stop: func() error { return p.Stop(g) }}
}
