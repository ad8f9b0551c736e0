package llm

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// mood is a model that fails with err, or answers when that is nil, and counts.
type mood struct {
	name  string
	err   error
	asked int
}

func (m *mood) Name() string     { return m.name }
func (m *mood) Provider() string { return m.name }
func (m *mood) Ask(context.Context, Question, func(Piece)) (Answer, error) {
	m.asked++
	return Answer{Stop: Ended}, m.err
}

// A primary that failed is left alone for a minute, and every switch is told once.
func TestAFallbackRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := Problem{Kind: Silent, Err: errors.New("no first byte")}
		first, second, log := &mood{name: "first", err: down}, &mood{name: "second"}, &bytes.Buffer{}
		both := Fallback(first, second, slog.New(slog.NewTextHandler(log, nil)))
		ask := func(firsts, seconds, warnings, notes int) {
			t.Helper()
			_, err := both.Ask(t.Context(), say("a secret of theirs"), nil)
			told := log.String()
			if err != nil || first.asked != firsts || second.asked != seconds || strings.Count(told, "level=WARN") != warnings ||
				strings.Count(told, "level=INFO") != notes {
				t.Fatalf("%v; asked %d and %d; told %s", err, first.asked, second.asked, told)
			}
		}
		ask(1, 1, 1, 0)
		time.Sleep(awayTime - 1)
		ask(1, 2, 1, 0)
		time.Sleep(time.Nanosecond)
		ask(2, 3, 2, 0)
		first.err = nil
		ask(2, 4, 2, 0)
		time.Sleep(awayTime)
		ask(3, 4, 2, 1)
		ask(4, 4, 2, 1)
		if told := log.String(); strings.Contains(told, "a secret") || !strings.Contains(told, "problem=silent") {
			t.Error(told)
		}
	})
}

// While the primary is left alone a second that fails too is no dead end.
func TestTheSecondFailsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &mood{name: "first", err: Problem{Kind: NoCredit, Err: errors.New("pay")}}, &mood{name: "second"}
		both := Fallback(first, second, slog.New(slog.DiscardHandler))
		if _, err := both.Ask(t.Context(), say("x"), nil); err != nil {
			t.Fatal(err)
		}
		second.err = Problem{Kind: Overloaded, Err: errors.New("busy")}
		if _, err := both.Ask(t.Context(), say("x"), nil); !Is(err, NoCredit) || !strings.Contains(errors.Unwrap(err).Error(), "fallback to second") ||
			second.asked != 2 {
			t.Errorf("%v; the second was asked %d times", err, second.asked)
		}
		first.err = nil
		if _, err := both.Ask(t.Context(), say("x"), nil); err != nil || first.asked != 3 {
			t.Errorf("%v; the first was asked %d times", err, first.asked)
		}
	})
}
