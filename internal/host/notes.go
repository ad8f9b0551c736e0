package host

import (
	"context"
	"errors"

	"familiar/internal/chat"
	"familiar/internal/desk/companion"
	"familiar/internal/note"
	"familiar/internal/research"
	"familiar/internal/tool"
	"familiar/internal/workspace"
)

// openNotes opens what sessions write into the notes that agents share, and what they read for it.
func (h *Host) openNotes() {
	h.drafts = note.Open(h.folders.Notes(), h.Loaded.Path(h.cfg.Workspace.RepoPath), h.now, h.log.With("module", "Notes"))
	h.web = research.NewPages(func(t chat.Turn, address string) { h.drafts.Read(t.ID, address) })
}

// noteTools are the tools of sessions that write notes. Nobody has them where there are no such sessions.
func (h *Host) noteTools() []tool.Tool {
	if !h.cfg.Companion.SelfResearch.Enabled {
		return nil
	}
	return append(h.web.Tools(), note.Tools(h.drafts)...)
}

// lendNotes gives a session a copy of the notes to write in.
func (h *Host) lendNotes(_ context.Context, t chat.Turn, session string) (companion.Notebook, error) {
	dir, back, err := h.folders.Lend(workspace.Ref{Platform: t.From.Platform, User: t.From.ID, Session: session})
	if err != nil {
		return nil, err
	}
	work, err := h.drafts.Begin(t.ID, session, dir)
	if err != nil {
		return nil, errors.Join(err, back())
	}
	return &notebook{host: h, turn: t, Work: work, back: back}, nil
}

// notebook is the copy of one session.
type notebook struct {
	host *Host
	turn chat.Turn
	*note.Work
	back func() error
}

// Close keeps what was written as a draft, also of a session that went wrong later on. One that is cut off because the
// bot leaves runs again.
func (n *notebook) Close(err error) {
	h, log := n.host, n.host.log.With(chat.KeyTurn, n.turn.ID)
	defer func() {
		if err := n.back(); err != nil {
			log.Warn("a copy of the notes is left behind", chat.KeyErr, err)
		}
	}()
	if errors.Is(err, chat.ErrShutdown) || errors.Is(err, companion.ErrNothing) {
		n.Drop()
		return
	}
	d, err := n.Keep()
	switch {
	case err != nil:
		log.Error("what a session wrote is lost", chat.KeyErr, err)
		return
	case len(d.Files) == 0:
		log.Warn("a session that should write a note wrote none", "session", d.Session)
		return
	}
	if h.cfg.Companion.SelfResearch.Review == research.ReviewAsk {
		log.Info("a note waits for the owner to let it in", "session", d.Session, "files", len(d.Files), "sources", len(d.Sources))
		return
	}
	if _, err := h.drafts.Admit(d.Session, false); err != nil {
		log.Error("a note could not be put among the others, and waits", chat.KeyErr, err)
		return
	}
	log.Info("a note was written", "session", d.Session, "files", len(d.Files), "sources", len(d.Sources))
}
