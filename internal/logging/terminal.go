package logging

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/lmittmann/tint"
)

// terminal writes entries for a person to read.
type terminal struct{ to slog.Handler }

func newTerminal(w io.Writer, plain bool) terminal {
	return terminal{tint.NewTextHandler(w, &tint.Options{Level: slog.LevelDebug, TimeFormat: time.TimeOnly, NoColor: plain,
		ReplaceAttr: forPeople})}
}

func (t terminal) write(ctx context.Context, e entry) error {
	message := e.message
	if e.module != "" {
		message = e.module + ": " + message
	}
	r := slog.NewRecord(e.record.Time, e.record.Level, printable(message), 0)
	r.AddAttrs(e.context...)
	return t.to.Handle(ctx, r)
}

// forPeople gives our own level its word, and durations as many digits as anybody reads.
func forPeople(groups []string, a slog.Attr) slog.Attr {
	switch value := a.Value.Any().(type) {
	case slog.Level:
		if a.Key == slog.LevelKey && len(groups) == 0 && value >= Fatal {
			return tint.Attr(9, slog.String(slog.LevelKey, "FTL")) // 9: bright red
		}
	case time.Duration:
		return slog.Duration(a.Key, threeDigits(value))
	}
	return a
}

// threeDigits rounds to three of them, and what is long to whole seconds.
func threeDigits(d time.Duration) time.Duration {
	step := time.Duration(1)
	for step < time.Second && d.Abs()/step >= 1000 {
		step *= 10
	}
	return d.Round(step)
}

// printable takes out what would move the cursor or colour the screen: a message may hold foreign text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return '\ufffd'
	}, text)
}
