package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// signals is what a running program hears from the system.
type signals struct {
	reload chan<- struct{} // gets the requests to read the configuration anew; nil: there is none to read

	log         *slog.Logger
	terminal    bool // there was a terminal to lose when we began
	interrupted bool
	cancel      context.CancelFunc
}

// heed returns a context that ends at the first SIGINT or SIGTERM, or at a SIGHUP that says that our terminal is gone.
// Any other SIGHUP asks for a reload, or ends the context where reload is nil; reload must have a place for one
// request. A second SIGINT ends the program at once with code 130; any other signal that comes again is one with the
// first. The func ends it.
func heed(ctx context.Context, log *slog.Logger, reload chan<- struct{}) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	s := &signals{reload: reload, log: log, terminal: hasTerminal(), cancel: cancel}
	heard := make(chan os.Signal, 4)
	signal.Notify(heard, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// Whoever reads our log may go away. A write is then an error, as to any other file, and no end.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	over := make(chan struct{})
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		for {
			select {
			case <-over:
				return
			case sig := <-heard:
				s.take(ctx, sig)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(heard)
		signal.Stop(pipes)
		close(over)
		<-listening
		cancel()
	}
}

// take does what a signal asks for.
func (s *signals) take(ctx context.Context, sig os.Signal) {
	if sig == syscall.SIGINT && s.interrupted {
		os.Exit(exitAtOnce)
	}
	s.interrupted = s.interrupted || sig == syscall.SIGINT
	switch {
	case ctx.Err() != nil:
	case sig == syscall.SIGHUP && s.reload != nil && (!s.terminal || hasTerminal()):
		select {
		case s.reload <- struct{}{}:
		default: // one that waits already reads what is there then
		}
		return
	case sig == syscall.SIGINT:
		s.log.Info("asked to leave; press Ctrl-C again to leave at once", "signal", sig.String())
	default:
		s.log.Info("asked to leave", "signal", sig.String())
	}
	s.cancel()
}

// hasTerminal reports whether this process has a terminal that controls it. The kernel takes it away before it tells
// of the loss, so a SIGHUP without one that was there means that nobody is there to reload for.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	_ = tty.Close()
	return true
}
