package host

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/clock"
	"familiar/internal/kv"
	"familiar/internal/pairing"
	"familiar/internal/platform/discord"
	"familiar/internal/platform/misskey"
	"familiar/internal/state"
)

// revive makes a database that is missing from what a backup holds of it. What cannot be brought back must not keep a
// bot from starting.
func (h *Host) revive(ctx context.Context, data string) {
	r, err := state.Revive(ctx, filepath.Join(data, state.File), h.Instance.Database(), h.now)
	switch {
	case err != nil:
		h.log.Error("the state of the last backup was not brought back", chat.KeyErr, err)
	case r.Made:
		h.log.Info("brought back the state of the last backup", "jobs", r.Jobs, "values", r.Values, "broken", r.Broken)
	}
}

// keepState writes what the database alone knows to where backups are made of it.
func (h *Host) keepState(ctx context.Context) error {
	if h.clock == nil {
		return nil // it was not opened
	}
	store, err := kv.Peek(ctx, h.db, h.now)
	if errors.Is(err, kv.ErrMissing) {
		return nil
	}
	if err != nil {
		return err
	}
	s := state.State{Clock: h.worthKeeping()}
	if s.KV, err = store.All(ctx); err != nil {
		return err
	}
	s.KV = slices.DeleteFunc(s.KV, func(e kv.Entry) bool {
		return slices.ContainsFunc(ofTheMoment, func(prefix string) bool { return strings.HasPrefix(e.Key, prefix) })
	})
	return s.Write(filepath.Join(h.Loaded.Path(h.cfg.Workspace.RepoPath), state.File))
}

// ofTheMoment is how the keys begin of what no copy holds: codes that nobody has used yet, and how far the networks were
// heard. A bot that was brought back hears from then on; what was answered after the copy was made is not again.
var ofTheMoment = []string{pairing.OfferKeys, discord.Marks, misskey.Marks}

// worthKeeping are the jobs that come due less often than a backup is made: of others the time is over by then, and
// every backup would be one more for its sake.
func (h *Host) worthKeeping() []clock.State {
	often := map[string]bool{}
	for _, j := range h.jobs() {
		often[j.Name] = j.AtStart || j.Rhythm.Least <= time.Duration(h.cfg.GitBackup.IntervalMs)*time.Millisecond
	}
	return slices.DeleteFunc(h.clock.States(), func(s clock.State) bool { return often[s.Name] })
}

// leaveState is keepState at the end.
func (h *Host) leaveState(ctx context.Context) {
	if err := h.keepState(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.Error("the state was not kept for a backup", chat.KeyErr, err)
	}
}
