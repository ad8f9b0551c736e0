// Package toolserver gives the tools of a session to an agent that is another process: as MCP tools and as the
// skill HTTP API, on one loopback listener. A session gets a door with a token of its own; whoever holds the
// token calls that session's tools and no others. It decides nothing about tools (the box does), keeps nothing on
// disk, and forgets a session when its door is closed or was idle for too long. An identical call within a
// second is answered with the first one's result, whichever face it came through.
package toolserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"familiar/internal/chat"
)

// Bounds of one connection. A tool may take its time, so only reading has a limit for the whole request.
const (
	readTime   = 30 * time.Second
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	writeTime  = 30 * time.Second // for the answer, once there is one
	leaveTime  = 5 * time.Second  // for the calls that run when the server leaves
	maxHeader  = 32 << 10         // bytes
	maxBody    = 1 << 20          // bytes of one request
)

// Server is the listener and its doors. Make one with New. Safe for concurrent use.
type Server struct {
	cfg Config
	log *slog.Logger
	now func() time.Time

	http *http.Server
	in   sync.RWMutex // read-held by each request: whoever takes it waits until the last one is out

	mu     sync.Mutex
	listen net.Listener
	doors  map[string]*door // by session
	left   bool

	//nolint:containedctx // calls outlive the request that made them; this is how the end of the server reaches them
	life context.Context // from Listen on
	end  context.CancelFunc
}

// New makes a server; it does not listen yet.
func New(cfg Config, log *slog.Logger) *Server {
	s := &Server{cfg: cfg, log: log, now: time.Now, doors: map[string]*door{}}
	s.http = &http.Server{Handler: s.routes(), ReadTimeout: readTime, ReadHeaderTimeout: headerTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	return s
}

// Listen takes the port, so that doors can tell their address. With skillApi.enabled false it does nothing.
func (s *Server) Listen(ctx context.Context) error {
	if !s.cfg.Enabled {
		return nil
	}
	if !loopback(s.cfg.Host) {
		return fmt.Errorf("listen for agents: skillApi.host %q is not a loopback address; use 127.0.0.1", s.cfg.Host)
	}
	l, err := listen(ctx, s.cfg.Host, s.cfg.Port)
	if s.cfg.Port == DefaultPort && errors.Is(err, syscall.EADDRINUSE) {
		l, err = listen(ctx, s.cfg.Host, 0)
	}
	if err != nil {
		return fmt.Errorf("listen for agents: %w; set skillApi.port to a free port, or to 0 for any", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left || s.listen != nil {
		return errors.Join(errors.New("listen for agents: called twice, or after the end"), l.Close())
	}
	s.listen = l
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	return nil
}

func listen(ctx context.Context, host string, port int) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, fmt.Sprint(port)))
}

// Serve answers until ctx ends (or Close is called), then lets running calls finish within five seconds, closes every door and
// returns nil. Without a listener it only waits.
func (s *Server) Serve(ctx context.Context) error {
	defer s.Close()
	s.mu.Lock()
	l := s.listen
	s.mu.Unlock()
	if l == nil {
		<-ctx.Done()
		return nil
	}
	failed := make(chan error, 1)
	go func() { failed <- s.http.Serve(l) }()
	select {
	case err := <-failed:
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("serve agents: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	if err := s.http.Shutdown(grace); err != nil {
		s.log.Warn("agents were still calling tools when the time to leave was over", chat.KeyErr, err)
	}
	s.Close()
	err := <-failed
	s.in.Lock()
	defer s.in.Unlock()
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve agents: %w", err)
	}
	return nil
}

// Close ends everything at once: for a program that never came to Serve. Serve calls it at its end.
func (s *Server) Close() {
	s.mu.Lock()
	s.left = true
	l, end := s.listen, s.end
	clear(s.doors)
	s.mu.Unlock()
	if l == nil {
		return
	}
	end()
	_ = s.http.Close()
	_ = l.Close() // the HTTP server may have closed it; there is nothing to do about either
}

// URL returns the base address of both faces, without a path; "" before Listen.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listen == nil {
		return ""
	}
	return "http://" + s.listen.Addr().String()
}
