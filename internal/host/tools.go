package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"

	"familiar/internal/audit"
	"familiar/internal/briefing"
	"familiar/internal/chat"
	"familiar/internal/memory"
	"familiar/internal/platform"
	"familiar/internal/tool"
)

// openBox is the table of tools.
func (h *Host) openBox() *tool.Box {
	var all []tool.Tool
	all = append(all, memory.Tools(h.memory, h.notes)...)
	all = append(all, memory.AloneTools(h.memory, h.handOver)...)
	all = append(all, h.outbox.Tools()...)
	all = append(all, h.files.Tools()...)
	all = append(all, h.reminding.Tools()...)
	all = append(all, h.noteTools()...)
	all = append(all, h.history.Tools(h.outbox.Reply)...)
	return tool.NewAskingBox(h.approvals.Asks, h.called, append(all, h.Options.Tools...)...)
}

// called records a tool call that has ended.
func (h *Host) called(t chat.Turn, c tool.Call) {
	h.audit.Note(t.ID, audit.NewSkillCall(c.Tool, c.Args, c.Took, c.Err))
	h.countCall(c)
	if operation, ok := memoryOperations[c.Tool]; ok && c.Err == nil {
		visibility := memory.Public
		if t.Place.Private() {
			visibility = memory.Private
		}
		e := audit.MemoryOperation{Operation: operation, Visibility: string(visibility)}
		e.MemoryID, e.Count = touched(c.Data)
		h.audit.Note(t.ID, e)
		h.count.MemoryOperation(operation, string(visibility))
	}
}

// touched says which memory a tool wrote, or how many memories and notes it found, by its answer.
func touched(answer []byte) (id string, count int) {
	var told struct {
		ID         string     `json:"id"`
		TargetID   string     `json:"targetId"`
		Memories   []struct{} `json:"memories"`
		AgentNotes []struct{} `json:"agentNotes"`
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		return "", 0 // an answer of another form says neither
	}
	return cmp.Or(told.ID, told.TargetID), len(told.Memories) + len(told.AgentNotes)
}

// memoryOperations are the tools that work on memories, as the audit calls what they do.
var memoryOperations = map[string]string{"memory-save": "save", "memory-search": "search", "memory-patch": "patch",
	"memory-export": "export"}

// delivered records what went out of the door.
func (h *Host) delivered(t chat.Turn, a chat.Action, r chat.Receipt, err error) {
	if err != nil {
		h.log.Warn("an action was not delivered", chat.KeyTurn, t.ID, chat.KeyPlatform, a.Where().Platform, chat.KeyErr, err)
		return
	}
	switch a := a.(type) {
	case chat.Say:
		h.audit.Note(t.ID, audit.NewReplySent(a.Text, a.Place.Platform))
		h.countReply(t, a.Place.Platform)
	case chat.Edit:
		h.audit.Note(t.ID, audit.NewReplyEdited(string(cmp.Or(r.Message, a.Message)), a.Text, a.Place.Platform))
	case chat.SendFile:
		e := audit.FileSent{FilesCount: len(a.Files), Platform: a.Place.Platform}
		for _, f := range a.Files {
			e.TotalBytes += f.Size
		}
		h.audit.Note(t.ID, e)
		h.count.FilesSent(a.Place.Platform, len(a.Files))
	}
}

// sources are where a briefing's material comes from.
func (h *Host) sources() briefing.Sources {
	return briefing.Sources{
		Important: func(ctx context.Context, t chat.Turn) ([]string, error) {
			found, err := h.memory.Important(ctx, t.From, t.Place.Private())
			memory.Lower(t, found)
			texts := make([]string, len(found))
			for i, m := range found {
				texts[i] = m.Content
			}
			return texts, err
		},
		Recent:  h.before,
		Related: h.related,
		Emojis:  h.emojis,
		Fetch:   h.fetch,
	}
}

// before reads what was said in a place lately, as much as memory.recentMessageLimit allows. A turn waits for a network
// that does not tell it for now.
func (h *Host) before(ctx context.Context, place chat.Place, message chat.MessageID, _ int) ([]chat.Message, error) {
	limit := h.reload.recent.Load().RecentMessageLimit
	if limit == 0 {
		return nil, nil
	}
	return h.history.Patiently(ctx, h.log, place, message, limit)
}

// related finds messages around a place, none where its platform cannot search.
func (h *Host) related(ctx context.Context, place chat.Place, query string, limit int) ([]chat.Message, error) {
	if limit = min(limit, h.reload.recent.Load().RelatedMessageLimit); limit == 0 {
		return nil, nil
	}
	found, err := h.history.Search(ctx, place, query, limit)
	if errors.Is(err, platform.ErrUnsupported) {
		return nil, nil
	}
	return found, err
}

// emojis are the custom emojis of a place, none where the platform knows of none.
func (h *Host) emojis(ctx context.Context, place chat.Place) ([]chat.Emoji, error) {
	if guide, ok := h.platforms[place.Platform].(platform.Guide); ok {
		return guide.Emojis(ctx, place)
	}
	return nil, nil
}

// fetch opens a file that came with a message of a place.
func (h *Host) fetch(ctx context.Context, place chat.Place, file chat.Attachment) (io.ReadCloser, error) {
	if fetcher, ok := h.platforms[place.Platform].(platform.Fetcher); ok {
		return fetcher.Fetch(ctx, file)
	}
	return nil, platform.ErrUnsupported
}
