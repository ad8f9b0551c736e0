package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// checkTime bounds everything that one answer of /readyz looks at.
const checkTime = 5 * time.Second

// readyChecks are what a message needs besides its platform (air-friends spec §8.6).
func (h *Host) readyChecks() []check {
	return []check{
		{"workspace", writable(h.Loaded.Path(h.cfg.Workspace.RepoPath))},
		{"database", h.db.Read().PingContext},
		{"tools", answers(h.doors.URL())},
		{"skills", h.skillsThere},
	}
}

// skillsThere checks that the texts which agents read are where they were laid, and counts each of them.
func (h *Host) skillsThere(context.Context) error {
	var missing []error
	for _, name := range h.laid {
		_, err := os.Stat(filepath.Join(h.skills(), name, "SKILL.md"))
		h.count.Ready(name, err == nil)
		if err != nil {
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}

// answers checks that the listener of the tools speaks. Whoever has no token is refused, which is an answer.
func answers(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		if url == "" {
			return nil // agents are given no tools that way
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		alone := &http.Transport{DisableKeepAlives: true}
		resp, err := alone.RoundTrip(req)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10))
		if resp.StatusCode >= http.StatusInternalServerError {
			err = fmt.Errorf("answered with %s", resp.Status)
		}
		return errors.Join(err, resp.Body.Close())
	}
}
