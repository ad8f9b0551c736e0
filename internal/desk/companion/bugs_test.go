package companion

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/audit"
	"familiar/internal/chat"
)

// BUG-E04: a question that comes when the turn is over is «cancelled»; nobody has refused anything, and nothing says so.
func TestAQuestionTooLateIsNoRefusal(t *testing.T) {
	r := open(t)
	var phases []string
	r.deps.Audit = audit.New(audit.Config{Enabled: true}, audit.Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
		Folder: func(string, string) string { return "ann" }, Counted: func(phase string) { phases = append(phases, phase) }})
	defer func() {
		if err := r.deps.Audit.Shut(); err != nil {
			t.Error(err)
		}
	}()
	it := turn()
	ev, _ := it.Trigger()
	s := r.sit(t.Context(), it, ev, func() {})
	s.begin()
	defer s.end(nil)
	ask := agent.Ask{Call: "1", Title: "rm -rf /", Kind: agent.KindExecute, Options: []agent.Option{{ID: "no", Kind: agent.RejectOnce}}}
	over, end := context.WithCancelCause(t.Context())
	end(chat.ErrStopped)
	if got := s.watch.Permit(over, ask); got.Option != "" || len(s.watch.refused) != 0 || slices.Contains(phases, "permission_denied") {
		t.Errorf("answered %q, refused %v, recorded %v", got.Option, s.watch.refused, phases)
	}
	if got := s.watch.Permit(t.Context(), ask); got.Option != "no" || len(s.watch.refused) != 1 || !slices.Contains(phases, "permission_denied") {
		t.Errorf("in the turn: answered %q, refused %v, recorded %v", got.Option, s.watch.refused, phases)
	}
}
