package acp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/tool"
	"familiar/internal/workspace"
)

const (
	// drainTime is how long what an ended agent has written may take to be read.
	drainTime = 250 * time.Millisecond
	// lateExit is how long an agent that closed its output may take to end by itself, so that we learn how.
	lateExit = 500 * time.Millisecond
)

// The reasons for which we end a session ourselves.
var (
	errClosed   = errors.New("the session was closed")
	errNoCancel = errors.New("the agent did not end its turn when it was cancelled")
	errConnect  = errors.New("the agent did not get ready in time")
)

// session is one process and the one conversation with it.
type session struct {
	agent    *Agent
	log      *slog.Logger
	stand    *workspace.Stand
	door     tool.Door
	child    *child
	conn     *conn
	errors   *stderr
	platform string                     // of the person whom it works for
	token    string                     // the id that the skill API knows the session by
	next     func(life context.Context) // what is done when the session has been closed; may be nil

	//nolint:containedctx // a conversation is closed by a call that has none; only its values are used
	life    context.Context
	command string // the command line, for errors

	name  atomic.Pointer[string] // the agent's own name for the session; nil before it has one
	can   agent.Can
	caps  sdk.AgentCapabilities
	began opened                   // what the agent offered when the conversation was opened
	yolo  atomic.Bool              // the agent is in the mode in which it asks nobody
	after struct{ cancelled bool } // how the turn before ended; only Prompt uses it

	turnLock sync.Mutex // held while the watcher is called
	turn     *turn
	asking   atomic.Bool // a permission request waits for its answer
	cutOff   atomic.Bool // the turn ended before somebody had answered one
	spoke    int64       // the turn, by its era, in which words of the agent's own came; only the reader uses it

	watching sync.WaitGroup
	over     chan struct{} // closed when the process and all its descendants are gone
	stopErr  error         // set before over is closed
	closing  sync.Once
	closeErr error
}

// ID returns the agent's own name for the session.
func (s *session) ID() string {
	if name := s.name.Load(); name != nil {
		return *name
	}
	return ""
}

// Can says what the agent takes.
func (s *session) Can() agent.Can { return s.can }

// watch waits for the end of the process or of the connection, whichever comes first, and sees to it that the
// other follows. It is the one place where an end is logged.
func (s *session) watch(ctx context.Context) {
	defer close(s.over)
	select {
	case <-s.child.done:
		_ = s.conn.out.SetReadDeadline(time.Now().Add(drainTime))
		<-s.conn.dead
	case <-s.conn.dead:
		if errors.Is(s.conn.gone(), errOutputEnded) {
			select {
			case <-s.child.done:
			case <-time.After(lateExit):
			}
		}
	}
	s.stopErr = s.child.stop()
	cause := s.conn.gone()
	level, say := slog.LevelError, "the agent ended by itself"
	switch {
	case errors.Is(cause, errClosed), errors.Is(cause, errConnect), errors.Is(cause, agent.ErrIdle):
		level, say = slog.LevelDebug, "the agent was ended"
	case errors.Is(cause, errNoCancel):
		level, say = slog.LevelWarn, "the agent was killed"
	}
	s.log.Log(ctx, level, say, chat.KeyErr, cause, "exit", s.exit(), "noise", s.conn.odd.noise.Load(),
		"stderr", s.errors.lines())
}

// exit says how the process ended.
func (s *session) exit() string {
	select {
	case <-s.child.done:
	default:
		return "not ended"
	}
	if err := s.child.err(); err != nil {
		return err.Error()
	}
	return "status 0"
}

// Close ends the session: a running Prompt returns at once, the process tree is gone when Close returns.
func (s *session) Close() error {
	s.closing.Do(func() {
		if s.conn != nil {
			s.sayClose()
			s.conn.fail(errClosed)
			s.watching.Wait()
			s.conn.wait()
			s.closeErr = s.stopErr
		}
		if s.door.Close != nil {
			s.door.Close()
		}
		if s.stand != nil {
			s.closeErr = errors.Join(s.closeErr, s.stand.Leave())
		}
		s.agent.left(s)
		if s.next != nil {
			s.next(s.life)
		}
	})
	if s.closeErr != nil {
		return fmt.Errorf("close session: %w", s.closeErr)
	}
	return nil
}
