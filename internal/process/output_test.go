package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func shell(script string) Spec {
	return Spec{Path: "sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/"}
}

func TestOutput(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		script, input, want string
		code                int
	}{
		{"cat", "hello", "hello", 0},
		{"cat", big, big, 0},
		{"true", big, "", 0}, // it does not read what it is given
		{"echo out; echo err >&2; exit 3", "", "out\n", 3},
		{"sleep 300 & echo left", "", "left\n", 0}, // what it leaves behind ends with it
	} {
		out, err := Output(t.Context(), shell(c.script), strings.NewReader(c.input), 2<<20)
		var exit Exit
		if string(out) != c.want || (c.code == 0) != (err == nil) || c.code != 0 && (!errors.As(err, &exit) || exit.Code != c.code) {
			t.Errorf("%s: %d bytes, %v", c.script, len(out), err)
		}
	}
	if _, err := Output(t.Context(), shell("yes"), nil, 1000); !errors.Is(err, errTooMuch) {
		t.Error("without end:", err)
	}
	if _, err := Output(t.Context(), Spec{Path: "no-such-program", Dir: "/"}, nil, 1); err == nil {
		t.Error("it was started")
	}
}

// A program that neither ends nor reads nor heeds a signal ends with its time.
func TestOutputOfWhatHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	out, err := Output(ctx, shell("trap '' TERM; while :; do sleep 1; done"), strings.NewReader(strings.Repeat("x", 1<<20)), 10)
	if !errors.Is(err, context.Canceled) || out != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// When the time is over nothing is started, not even for a moment.
func TestNothingIsStartedTooLate(t *testing.T) {
	for range 20 {
		made := filepath.Join(t.TempDir(), "made")
		ctx, cancel := context.WithCancelCause(t.Context())
		late := errors.New("too late")
		cancel(late)
		if _, err := Output(ctx, shell("echo > "+made), nil, 10); !errors.Is(err, late) {
			t.Error(err)
		}
		if _, err := os.Stat(made); err == nil {
			t.Fatal("it was started")
		}
	}
}
