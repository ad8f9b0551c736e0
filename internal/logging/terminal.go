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
		ReplaceAttr: nameFatal})}
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

// nameFatal gives our own level its word.
func nameFatal(groups []string, a slog.Attr) slog.Attr {
	if level, ok := a.Value.Any().(slog.Level); ok && a.Key == slog.LevelKey && len(groups) == 0 && level >= Fatal {
		return tint.Attr(9, slog.String(slog.LevelKey, "FTL")) // 9: bright red
	}
	return a
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
