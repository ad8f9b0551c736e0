package history

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// moody answers the first questions with errors, one after the other, and the last for ever.
type moody struct {
	farNetwork
	errs  []error
	asked int
}

func (m *moody) Before(ctx context.Context, at chat.Place, before chat.MessageID, limit int) ([]chat.Message, error) {
	m.asked++
	if err := m.errs[min(m.asked, len(m.errs))-1]; err != nil {
		return nil, err
	}
	return m.farNetwork.Before(ctx, at, before, limit)
}

func TestPatiently(t *testing.T) {
	no := errors.New("missing access")
	busy := platform.Temporary{Err: errors.New("busy"), After: 40 * time.Second}
	silent := platform.Uncertain{Err: errors.New("no answer")}
	for _, c := range []struct {
		name  string
		errs  []error
		asked int
		took  time.Duration
		err   error
	}{
		{"answered at once", []error{nil}, 1, 0, nil},
		{"answered later", []error{silent, silent, nil}, 3, 3 * time.Second, nil},
		{"as late as the network asks", []error{busy, nil}, 2, 40 * time.Second, nil},
		{"refused", []error{no}, 1, 0, no},
		{"refused later", []error{silent, no}, 2, time.Second, no},
		{"never answered", []error{silent}, 12, patience, silent},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far := &moody{errs: c.errs}
				h := &History{platforms: map[string]platform.Platform{"far": far}}
				var log strings.Builder
				began := time.Now()
				said, err := h.Patiently(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), chat.Place{Platform: "far", ID: "x"}, "", 20)
				if !errors.Is(err, c.err) || (err == nil) != (len(said) == 1) {
					t.Fatal(said, err)
				}
				if far.asked != c.asked || time.Since(began) != c.took {
					t.Fatalf("asked %d times in %v", far.asked, time.Since(began))
				}
				if waits := strings.Count(log.String(), "waits"); waits != min(1, int(c.took)) {
					t.Fatalf("said %d times that the turn waits:\n%s", waits, &log)
				}
			})
		})
	}
}

func TestPatienceEndsWithTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &moody{errs: []error{platform.Uncertain{Err: errors.New("no answer")}}}
		h := &History{platforms: map[string]platform.Platform{"far": far}}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		began := time.Now()
		if _, err := h.Patiently(ctx, slog.New(slog.DiscardHandler), chat.Place{Platform: "far"}, "", 20); err == nil {
			t.Fatal("no error")
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Fatal(took)
		}
	})
}
