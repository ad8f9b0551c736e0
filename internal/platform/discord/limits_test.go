package discord

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/disgoorg/disgo/rest"

	"familiar/internal/platform"
)

// unlock ends a call with an answer that has these headers, in pairs.
func unlock(t *testing.T, l *limits, e *rest.CompiledEndpoint, status int, pairs ...string) {
	t.Helper()
	header := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		header.Set(pairs[i], pairs[i+1])
	}
	if err := l.Unlock(e, &http.Response{StatusCode: status, Header: header}); err != nil {
		t.Fatal(err)
	}
}

// Two routes may spend one allowance, by Discord's word for it; another channel has its own.
func TestRoutesThatShareAnAllowance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits()
		post, edit := at(rest.CreateMessage, nil, "1"), at(rest.UpdateMessage, nil, "1", "9")
		spend := func(e *rest.CompiledEndpoint, left, after string) time.Duration {
			t.Helper()
			began := time.Now()
			if err := l.Wait(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			unlock(t, l, e, 200, "X-RateLimit-Bucket", "b", "X-RateLimit-Remaining", left, "X-RateLimit-Reset-After", after)
			return took
		}
		spend(post, "2", "5")
		spend(edit, "1", "5")
		if took := spend(post, "0", "5"); took != 0 {
			t.Errorf("waited %v for what is left", took)
		}
		if took := spend(at(rest.CreateMessage, nil, "2"), "1", "5"); took != 0 {
			t.Errorf("another channel waited %v", took)
		}
		if took := spend(edit, "1", "5"); took != 5*time.Second {
			t.Errorf("waited %v for an allowance that the other route had spent", took)
		}
		if err := l.Wait(t.Context(), post); err != nil { // it is under way, and takes the last one
			t.Fatal(err)
		}
		if took := spend(edit, "1", "5"); took != 5*time.Second {
			t.Errorf("waited %v for what a call under way had taken", took)
		}
	})
}

// A global limit holds everybody up, and whoever would wait too long is told so; the end of a context ends a wait.
func TestAGlobalLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits()
		post, read := at(rest.CreateMessage, nil, "1"), at(rest.GetMessages, nil, "2")
		if err := l.Wait(t.Context(), post); err != nil {
			t.Fatal(err)
		}
		unlock(t, l, post, 429, "X-RateLimit-Global", "true", "Retry-After", "12")
		var later platform.Temporary
		if err := l.Wait(t.Context(), read); !errors.As(err, &later) || later.After != 12*time.Second {
			t.Errorf("%v", err)
		}
		time.Sleep(4 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Wait(ctx, read); !errors.As(err, &later) || later.After != 8*time.Second {
			t.Errorf("%v", err)
		}
		began := time.Now()
		if err := l.Wait(t.Context(), read); err != nil || time.Since(began) != 7*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
