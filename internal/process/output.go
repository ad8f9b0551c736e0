package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// outputGrace is how long a program whose time is over may take to end by itself.
var outputGrace = Grace{EOF: 0, Term: 2 * time.Second}

// errTooMuch says that a program wrote more than its caller wanted to hold.
var errTooMuch = errors.New("it wrote too much")

// Output starts a program, gives it input as its standard input, and returns what it wrote to its standard output when
// it ended, at most limit bytes. It blocks until then; when ctx ends first, the program and all its descendants are
// ended. How the program ended, if not with status 0, is an [Exit] in the error.
func Output(ctx context.Context, spec Spec, input io.Reader, limit int) ([]byte, error) {
	p, err := Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = p.Stop(outputGrace) })()
	fed := make(chan struct{})
	go func() { // a program may write before it has read everything
		defer close(fed)
		if input != nil {
			_, _ = io.Copy(p.Stdin(), input) // one that does not want it all closes its end
		}
		_ = p.Stdin().Close()
	}()
	out, err := io.ReadAll(io.LimitReader(p.Stdout(), int64(limit)+1))
	if len(out) > limit {
		err = errTooMuch
		_ = p.Stop(outputGrace)
	}
	<-p.Done()
	<-fed
	stopErr := p.Stop(outputGrace)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("read its output: %w", err)
	case p.Err() != nil:
		return out, errors.Join(p.Err(), stopErr)
	}
	return out, stopErr
}
