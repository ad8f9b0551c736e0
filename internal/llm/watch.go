package llm

import (
	"context"
	"errors"
	"io"
	"time"
)

// errSilent ends the context of a request whose provider says nothing.
var errSilent = errors.New("no byte came in time")

// watch ends a request when the provider falls silent. Only time spent waiting for the provider counts: a caller who
// is slow to take what came does not make it silent. It is for one goroutine.
type watch struct {
	timer   *time.Timer
	silence time.Duration
	heard   bool // a byte of the answer came
}

// newWatch begins to wait for the first byte. The timer's function is the only thing that runs elsewhere.
func newWatch(end context.CancelCauseFunc, first, silence time.Duration) *watch {
	return &watch{timer: time.AfterFunc(first, func() { end(errSilent) }), silence: silence}
}

func (w *watch) stop() { w.timer.Stop() }

// maxAnswer is how long an answer may be on the wire, in bytes.
const maxAnswer = 64 << 20

var errTooMuch = errors.New("the answer is longer than 64 MiB")

// watched is the body of an answer, bounded and under watch.
type watched struct {
	io.ReadCloser
	watch *watch
	left  int64
}

func (b *watched) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	if b.watch.heard {
		b.watch.timer.Reset(b.watch.silence)
	}
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.stop()
		b.watch.heard = true
		b.left -= int64(n)
	}
	return n, err
}
