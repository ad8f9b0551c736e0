// Package logging is where every log line passes, and the last place where something may be taken out of it. A
// line is a JSON object with timestamp, level, module, message, messageTemplate (when the message has places to
// fill) and context. Secrets are masked in every text that leaves: known ones, whatever has the name of a
// secret, whatever looks like one; and the values of names under which people's words travel are left out.
//
// An attribute "module" names the part of the program that speaks; a logger derived with another one speaks as
// Parent:Child. A place such as {event} in a message is filled with the attribute of that name.
package logging

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"familiar/internal/secret"
)

// New returns the logger of the program. On a terminal all lines go to err, coloured unless NO_COLOR is set;
// elsewhere DEBUG, INFO and WARN go to out, ERROR and FATAL to err, as JSON. Each line is one Write. vault may
// be nil, and may learn secrets later.
func New(cfg Config, out, err io.Writer, terminal bool, vault *secret.Vault) *slog.Logger {
	var to sink = &lines{low: out, high: err}
	if terminal {
		to = newTerminal(err, os.Getenv("NO_COLOR") != "")
	}
	return slog.New(&handler{least: leastOf(cfg), mask: masker{vault}, sinks: []sink{to}, scopes: []scope{{}}})
}

// Reload sets the least level that log, which New made, and every logger that comes from it write from now on. A
// logger that New did not make stays as it is.
func Reload(log *slog.Logger, cfg Config) {
	if h, ok := log.Handler().(*handler); ok {
		h.least.Set(cfg.level())
	}
}

func leastOf(cfg Config) *slog.LevelVar {
	var least slog.LevelVar
	least.Set(cfg.level())
	return &least
}

// Also returns a logger that does as log, which New made, and writes its lines as JSON to w as well.
func Also(log *slog.Logger, w io.Writer) *slog.Logger {
	h, ok := log.Handler().(*handler)
	if !ok {
		panic("logging.Also of a logger that logging.New did not make")
	}
	with := *h
	with.sinks = append(slices.Clone(h.sinks), &lines{low: w, high: w})
	return slog.New(&with)
}

// moduleKey is the attribute that names the speaker.
const moduleKey = "module"

// handler turns records into entries and masks them; sinks write entries.
type handler struct {
	least  *slog.LevelVar // one for all loggers that come from one
	mask   masker
	sinks  []sink
	module string
	scopes []scope // the root, then one for each open group
}

// scope is the attributes that a logger carries in one group.
type scope struct {
	name  string
	attrs []slog.Attr
}

// entry is a line before it is written. Everything in it is masked.
type entry struct {
	record   slog.Record // time and level
	module   string
	message  string
	template string // the message before its places were filled; "" when it has none
	context  []slog.Attr
}

// sink writes entries. Safe for concurrent use.
type sink interface {
	write(ctx context.Context, e entry) error
}

func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.least.Level() }

// Handle writes the record everywhere, whatever one of the sinks says, and returns the first error.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	e := h.entry(r)
	var first error
	for _, s := range h.sinks {
		if err := s.write(ctx, e); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (h *handler) entry(r slog.Record) entry {
	last := len(h.scopes) - 1
	attrs := slices.Clone(h.scopes[last].attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	for i := last; i > 0; i-- {
		inner := slog.Attr{Key: h.scopes[i].name, Value: slog.GroupValue(attrs...)}
		attrs = append(slices.Clone(h.scopes[i-1].attrs), inner)
	}
	module, attrs := takeModule(h.module, attrs)
	e := entry{record: r, module: h.mask.text(module), context: h.mask.attrs(attrs)}
	message, filled := render(r.Message, e.context)
	e.message = h.mask.text(message)
	if filled {
		e.template = h.mask.text(r.Message)
	}
	return e
}

// WithAttrs returns a handler whose records carry attrs.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.scopes = slices.Clone(h.scopes)
	last := &with.scopes[len(with.scopes)-1]
	if len(with.scopes) == 1 {
		with.module, attrs = takeModule(h.module, attrs)
	}
	last.attrs = append(slices.Clone(last.attrs), attrs...)
	return &with
}

// WithGroup returns a handler whose further attributes are in a group.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.scopes = append(slices.Clone(h.scopes), scope{name: name})
	return &with
}

// takeModule takes the attributes that name a module out of attrs and adds their names to parent.
func takeModule(parent string, attrs []slog.Attr) (module string, rest []slog.Attr) {
	names := []string{}
	if parent != "" {
		names = append(names, parent)
	}
	for _, a := range attrs {
		if a.Key == moduleKey && a.Value.Kind() == slog.KindString {
			names = append(names, a.Value.String())
		} else {
			rest = append(rest, a)
		}
	}
	return strings.Join(names, ":"), rest
}
