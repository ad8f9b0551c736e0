package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"familiar/internal/doctor"
)

// Bounds of the listeners. A stream sets its own write deadline as it goes.
const (
	headerTime  = 10 * time.Second
	readTime    = 30 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 32 << 10
	leaveTime   = 3 * time.Second
)

// server is one HTTP listener, from the moment that its port is taken.
type server struct {
	net.Listener
	http *http.Server
}

// listen takes the port of a setting, so that nothing starts when it is not to be had.
func listen(ctx context.Context, key, host string, port int, handler http.Handler) (*server, error) {
	address := net.JoinHostPort(host, strconv.Itoa(port))
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: %s has %s; end that program, or choose another port", key, doctor.HolderOf(port), address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s: %s is no address of this machine", key, address)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return &server{l, &http.Server{Handler: handler, ReadHeaderTimeout: headerTime, ReadTimeout: readTime,
		IdleTimeout: idleTime, MaxHeaderBytes: headerBytes}}, nil
}

// url is the base address of the listener, for this machine: one that listens on every address is called by its own.
func (s *server) url() string {
	at, ok := s.Addr().(*net.TCPAddr)
	if ok && at.IP.IsUnspecified() {
		return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port))
	}
	return "http://" + s.Addr().String()
}

// serve answers until ctx ends, then closes what is left after a short grace.
func (s *server) serve(ctx context.Context) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx)) // requests may end within the grace
	defer cancel()
	s.http.BaseContext = func(net.Listener) context.Context { return base }
	left := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		defer close(left)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
		defer cancel()
		if s.http.Shutdown(grace) != nil {
			_ = s.http.Close()
		}
	})()
	err := s.http.Serve(s.Listener)
	if errors.Is(err, http.ErrServerClosed) {
		<-left
		return nil
	}
	return fmt.Errorf("serve HTTP: %w", err)
}
