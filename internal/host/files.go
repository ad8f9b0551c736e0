package host

import (
	"os"
	"path/filepath"

	"familiar/internal/attachment"
	"familiar/internal/chat"
	"familiar/internal/workspace"
)

// openFiles opens the way by which agents send files, where the configuration has it. What was being sent when the last
// process died is removed.
func (h *Host) openFiles() error {
	if !h.cfg.Skill.SendFile.Enabled {
		return nil
	}
	stage := filepath.Join(h.Instance.State(), "outgoing")
	if err := os.RemoveAll(stage); err != nil {
		return err
	}
	if err := os.MkdirAll(stage, 0o700); err != nil {
		return err
	}
	h.files = attachment.New(h.cfg.Skill.SendFile, attachment.Deps{Folders: h.sendable, Stage: stage, Send: h.outbox.Attach})
	return nil
}

// sendable are the folders out of which the agent of a session may send files: those that it can read.
func (h *Host) sendable(t chat.Turn, session string) ([]string, error) {
	at, err := h.folders.Paths(workspace.Ref{Platform: t.From.Platform, User: t.From.ID, Session: session})
	return []string{at.Work, at.Tmp, at.Notes}, err
}
