package host

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
)

// exhausted is a listener that has no file left for the first connections.
type exhausted struct {
	net.Listener
	left atomic.Int32
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// A port that is not to be had is told with its setting and with who has it.
func TestAPortThatIsNotToBeHad(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for host, want := range map[string]string{
		"127.0.0.1": fmt.Sprintf("health.port: another program (host.test, process %d) has 127.0.0.1:%d; end that program, or choose another port", os.Getpid(), port),
		"192.0.2.1": fmt.Sprintf("health.port: 192.0.2.1:%d is no address of this machine", port),
	} {
		if s, err := listen(t.Context(), "health.port", host, port, nil); err == nil {
			_ = s.Close()
			t.Errorf("%s was taken twice", host)
		} else if err.Error() != want {
			t.Errorf("told %q, want %q", err, want)
		}
	}
}

// BUG-K07: a program that has too many files open goes on when it has fewer.
func TestTooManyOpenFiles(t *testing.T) {
	s, err := listen(t.Context(), "server.port", "127.0.0.1", 0, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	if err != nil {
		t.Fatal(err)
	}
	short := &exhausted{Listener: s.Listener}
	short.left.Store(4)
	s.Listener = short
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx) }()
	defer func() {
		leave()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url(), nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNoContent || short.left.Load() >= 0 {
		t.Error(res.StatusCode, short.left.Load())
	}
}
