package memory

import (
	"context"
	"strings"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

// private says to which side a turn saves: that of its place. A turn that tidies a person's memories stands in private
// and sums up either side, so that there it is the side of what the new memory replaces.
func (k kit) private(ctx context.Context, t chat.Turn, replaces []string) (bool, error) {
	if t.SessionType() != chat.UpkeepSession {
		return t.Place.Private(), nil
	}
	all, err := k.store.All(ctx, t.From, true)
	if err != nil {
		return false, fault("memory-save", err)
	}
	sides := map[string]Visibility{}
	for _, m := range all {
		if m.Enabled {
			sides[m.ID] = m.Visibility
		}
	}
	seen := map[Visibility]bool{}
	for _, id := range replaces {
		side, ok := sides[strings.TrimSpace(id)]
		if !ok {
			return false, tool.Bad("memory-save: supersedes names %.60q, which is no enabled memory of this person; save the new memory before you disable the old ones, and take ids from the list", id)
		}
		seen[side] = true
	}
	switch {
	case len(seen) == 0:
		return false, tool.Bad("memory-save: supersedes must name the memories that the new one sums up, so that it is public or private as they are")
	case len(seen) > 1:
		return false, tool.Bad("memory-save: supersedes names public and private memories; make two groups of them, and save one memory for each")
	}
	return seen[Private], nil
}

// uncovers refuses to make something public where nobody asked for it.
func uncovers(t chat.Turn, to *Visibility) error {
	if t.SessionType() == chat.UpkeepSession && to != nil && *to != Private {
		return tool.Bad("memory-patch: what is private stays private here; only the person can make it public, in a conversation")
	}
	return nil
}
