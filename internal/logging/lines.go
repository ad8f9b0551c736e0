package logging

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"
)

// lines writes entries as JSON, one a line: errors to high, everything else to low.
type lines struct {
	mu        sync.Mutex
	low, high io.Writer
}

func (l *lines) write(_ context.Context, e entry) error {
	line := append(e.encode(), '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	to := l.low
	if e.record.Level >= slog.LevelError {
		to = l.high
	}
	_, err := to.Write(line)
	return err
}

// iso is how times are written: UTC, to the millisecond.
const iso = "2006-01-02T15:04:05.000Z"

func (e entry) encode() []byte {
	out := []byte{'{'}
	field := func(name string) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendText(out, name), ':')
	}
	if !e.record.Time.IsZero() {
		field("timestamp")
		out = appendText(out, e.record.Time.UTC().Format(iso))
	}
	field("level")
	out = appendText(out, levelWord(e.record.Level))
	field(moduleKey)
	out = appendText(out, e.module)
	field("message")
	out = appendText(out, e.message)
	if e.template != "" {
		field("messageTemplate")
		out = appendText(out, e.template)
	}
	if len(e.context) > 0 {
		field("context")
		out = appendGroup(out, e.context)
	}
	return append(out, '}')
}

func appendGroup(out []byte, attrs []slog.Attr) []byte {
	out = append(out, '{')
	for i, a := range attrs {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendText(out, a.Key), ':')
		out = appendValue(out, a.Value)
	}
	return append(out, '}')
}

func appendValue(out []byte, v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindBool:
		return strconv.AppendBool(out, v.Bool())
	case slog.KindInt64:
		return strconv.AppendInt(out, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(out, v.Uint64(), 10)
	case slog.KindFloat64:
		if f := v.Float64(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.AppendFloat(out, f, 'g', -1, 64)
		}
	case slog.KindTime:
		return appendText(out, v.Time().Format(time.RFC3339Nano))
	case slog.KindGroup:
		return appendGroup(out, v.Group())
	case slog.KindAny:
		switch value := v.Any().(type) {
		case nil:
			return append(out, "null"...)
		case rawJSON:
			return append(out, value...)
		}
	}
	return appendText(out, v.String())
}

func appendText(out []byte, text string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always can be encoded
	return append(out, bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})...)
}
