package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"
)

// Bounds of what waits to be shipped, and of the time that it may take.
const (
	maxQueue     = 1024    // messages
	maxQueued    = 4 << 20 // bytes
	shipTime     = 5 * time.Second
	leaveTime    = 2 * time.Second // for what waits when the program leaves
	firstPause   = time.Second     // after a failure; doubled by each further one
	longestPause = 30 * time.Second
	complainEach = time.Minute
)

// Shipper sends log lines to a server. A line is put in a bounded queue, and lost when that is full: the log never
// holds the program up. Make it with NewShipper; nothing is sent before Run. Safe for concurrent use.
type Shipper struct {
	host   string
	wire   wire
	errs   io.Writer
	queue  chan []byte
	queued atomic.Int64 // bytes
	lost   atomic.Int64 // messages, since the last complaint

	complained time.Time // only Run uses it
}

// wire is one way to a server. Only one goroutine uses it.
type wire interface {
	send(ctx context.Context, message []byte) error
	close()
}

// NewShipper returns what ships to the server that cfg names, which Check has found good. What goes wrong on the way
// is told on errs, at most once a minute.
func NewShipper(cfg GELF, errs io.Writer) (*Shipper, error) {
	w, err := cfg.wire()
	if err != nil {
		return nil, fmt.Errorf("ship the log: %w", err)
	}
	return &Shipper{host: cfg.Hostname, wire: w, errs: errs, queue: make(chan []byte, maxQueue)}, nil
}

// Shipped returns a logger that does as log, which New made, and ships its lines as well.
func Shipped(log *slog.Logger, s *Shipper) *slog.Logger {
	h, ok := log.Handler().(*handler)
	if !ok {
		panic("logging.Shipped of a logger that logging.New did not make")
	}
	with := *h
	with.sinks = append(slices.Clone(h.sinks), s)
	return slog.New(&with)
}

// write puts an entry in the queue. It never blocks, and never fails.
func (s *Shipper) write(_ context.Context, e entry) error {
	message := e.gelf(s.host)
	if s.queued.Add(int64(len(message))) > maxQueued {
		s.queued.Add(-int64(len(message)))
		s.lost.Add(1)
		return nil
	}
	select {
	case s.queue <- message:
	default:
		s.queued.Add(-int64(len(message)))
		s.lost.Add(1)
	}
	return nil
}

// Run ships what is written until ctx ends, and then what waits, for two seconds at most.
func (s *Shipper) Run(ctx context.Context) {
	defer s.wire.close()
	pause := firstPause
	for {
		select {
		case <-ctx.Done():
			s.rest(ctx)
			return
		case message := <-s.queue:
			if s.one(ctx, message) {
				pause = firstPause
				continue
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			pause = min(2*pause, longestPause)
		}
	}
}

// rest ships what still waits.
func (s *Shipper) rest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	for {
		select {
		case message := <-s.queue:
			if !s.one(ctx, message) {
				return
			}
		default:
			return
		}
	}
}

// one ships one message, and reports whether it went out.
func (s *Shipper) one(ctx context.Context, message []byte) bool {
	s.queued.Add(-int64(len(message)))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within(ctx))
	defer cancel()
	err := s.wire.send(ctx, message)
	if err != nil {
		s.lost.Add(1)
		s.complain(err)
	}
	return err == nil
}

// within is how long one message may take: what is begun when the program is told to leave may end.
func within(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return min(time.Until(end), shipTime)
	}
	return shipTime
}

// complain says on the standard error stream, not in the log, that the log does not arrive.
func (s *Shipper) complain(err error) {
	if time.Since(s.complained) < complainEach {
		return
	}
	s.complained = time.Now()
	_, _ = fmt.Fprintf(s.errs, "familiar: log lines do not reach the GELF server, %d are lost: %s\n", s.lost.Swap(0), Mask(err.Error(), nil))
}
