package host

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/metrics"
	"familiar/internal/tool"
)

// openMetrics is what is counted, when anybody wants to know.
func (h *Host) openMetrics(context.Context) error {
	if !h.cfg.Metrics.Enabled {
		return nil
	}
	h.count = metrics.New(h.Version, metrics.Now{
		Queue: func() int { return h.rooms.Load().Waiting },
		Agents: func() int {
			if h.external == nil {
				return 0
			}
			return h.external.Living()
		},
		Inbox:   func(ctx context.Context) (int64, error) { return h.inbox.Waiting(ctx) },
		Unknown: func(ctx context.Context) (int64, error) { return h.outbox.Unknown(ctx) },
	})
	return nil
}

// metricsRoute lets what is counted be fetched, behind a guard.
func (h *Host) metricsRoute(mux *http.ServeMux, guard func(http.Handler) http.Handler) {
	if h.count == nil {
		return
	}
	route := http.NewServeMux()
	route.Handle("GET "+h.cfg.Metrics.Path, h.count.Handler())
	mux.Handle(h.cfg.Metrics.Path, guard(known(route)))
}

// countHeard counts an event that was accepted, when it is a message.
func (h *Host) countHeard(ev chat.Event) {
	if _, said := ev.Body.(chat.Said); said {
		h.count.MessageReceived(ev.Place.Platform)
	}
}

// countCall counts a tool call. A name that there is no tool of is the agent's own invention and counts for none.
func (h *Host) countCall(c tool.Call) {
	if _, there := h.box.Find(c.Tool); there {
		h.count.ToolCalled(c.Tool, c.Err == nil)
	}
}

// countReply counts an answer; what the host itself tells a person is none.
func (h *Host) countReply(t chat.Turn, platform string) {
	if t.Kind != chat.Notice {
		h.count.ReplySent(platform)
	}
}

// sessionWord is a type of session as the labels have it.
func sessionWord(t chat.SessionType) string { return strings.ReplaceAll(string(t), "-", "_") }

// countSession counts a turn that has ended. One that its person stopped did what they wanted.
func (h *Host) countSession(t chat.Turn, waited time.Duration, err error) {
	h.count.SessionEnded(metrics.Session{Platform: t.Place.Platform, Type: sessionWord(t.SessionType()), Waited: waited,
		OK: err == nil || errors.Is(err, chat.ErrStopped) || errors.Is(err, errNotHeard), Took: h.now().Sub(t.Began)})
}
