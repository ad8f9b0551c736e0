package host

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"familiar/internal/answer"
	"familiar/internal/platform"
)

// health answers the probes (air-friends spec §8.6).
type health struct {
	links   []*platform.Link
	began   time.Time
	now     func() time.Time
	checks  []check
	started func() bool // whether the host has come as far as to hear

	mu    sync.Mutex // guards the last readiness
	asked time.Time
	last  readiness
}

// check is one thing that must be right before we are ready.
type check struct {
	name string
	ok   func(context.Context) error
}

// readyKept is how long an answer of /readyz is given again.
const readyKept = 30 * time.Second

type (
	report struct {
		Status    string    `json:"status"`
		Timestamp time.Time `json:"timestamp"`
		Uptime    int64     `json:"uptime"` // ms
		Checks    []finding `json:"checks"`
	}
	finding struct {
		Name    string `json:"name"`
		Status  string `json:"status"` // pass, warn or fail
		Message string `json:"message,omitempty"`
	}
	readiness struct {
		Ready  bool      `json:"ready"`
		Checks []finding `json:"checks"`
	}
)

// probePaths are where routes answers.
var probePaths = []string{"/livez", "/healthz", "/health", "/readyz", "/ready"}

func (h *health) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		answer.JSON(w, http.StatusOK, struct {
			Status string `json:"status"`
		}{"alive"})
	})
	for _, path := range []string{"GET /healthz", "GET /health"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			r := h.report()
			answer.JSON(w, status(r.Status != "unhealthy"), r)
		})
	}
	for _, path := range []string{"GET /readyz", "GET /ready"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			ready := h.ready(r.Context())
			answer.JSON(w, status(ready.Ready), ready)
		})
	}
}

func status(ok bool) int {
	if ok {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

// report tells how the links stand: any failure makes the whole unhealthy, else a warning degraded.
func (h *health) report() report {
	now := h.now()
	r := report{Status: "healthy", Timestamp: now.UTC(), Uptime: now.Sub(h.began).Milliseconds(), Checks: []finding{}}
	if !h.started() {
		r.Status = "unhealthy"
	}
	for _, l := range h.links {
		f := stand(l.State())
		r.Checks = append(r.Checks, f)
		switch {
		case f.Status == "fail":
			r.Status = "unhealthy"
		case f.Status == "warn" && r.Status == "healthy":
			r.Status = "degraded"
		}
	}
	return r
}

func stand(s platform.State) finding {
	f := finding{Name: "platform:" + s.Name, Status: "fail", Message: string(s.Status)}
	switch s.Status {
	case platform.Connected:
		return finding{Name: f.Name, Status: "pass"}
	case platform.Reconnecting:
		f.Status = "warn"
	case platform.Disconnected, platform.Connecting, platform.Failed:
	}
	return f
}

// ready tells whether everything that a message needs is there. What was found is kept for a while, as long as
// the links stand as they did.
func (h *health) ready(ctx context.Context) readiness {
	r := readiness{Ready: h.started()}
	for _, l := range h.links {
		f := stand(l.State())
		r.Ready = r.Ready && f.Status == "pass"
		r.Checks = append(r.Checks, f)
	}
	rest := h.rest(ctx)
	r.Ready = r.Ready && rest.Ready
	r.Checks = append(r.Checks, rest.Checks...)
	return r
}

// rest runs the checks that cost something.
func (h *health) rest(ctx context.Context) readiness {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.asked.IsZero() && h.now().Sub(h.asked) < readyKept {
		return h.last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime) // whoever asked first may go away
	defer cancel()
	h.asked, h.last = h.now(), readiness{Ready: true}
	for _, c := range h.checks {
		f := finding{Name: c.name, Status: "pass"}
		if err := c.ok(ctx); err != nil {
			f.Status, h.last.Ready = "fail", false
		}
		h.last.Checks = append(h.last.Checks, f)
	}
	return h.last
}

// writable checks that files can be made and filled in a directory.
func writable(dir string) func(context.Context) error {
	return func(context.Context) error {
		f, err := os.CreateTemp(dir, ".ready-*")
		if err != nil {
			return err
		}
		_, err = f.Write(make([]byte, 4096)) // a full disk still takes an empty file
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
}
