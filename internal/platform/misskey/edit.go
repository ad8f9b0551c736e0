package misskey

import (
	"cmp"
	"context"
	"fmt"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey/api"
)

// mostHalf is how many edits may be half done; of more, some are forgotten.
const mostHalf = 100

// half is an edit that is half done: what is to be written, and whether the old message is surely deleted.
type half struct {
	next    post
	deleted bool
}

// edit deletes a message of ours and writes another in its place: with the same readers, and as an answer to what the
// first one answered. When the old one cannot be deleted, nothing is written. An edit that is asked for again after its
// old message was deleted goes on from there, unless the new one may be there.
func (m *Misskey) edit(ctx context.Context, at place, a chat.Edit) (chat.Receipt, error) {
	h, begun := m.takeHalf(a.Message)
	if !begun {
		var err error
		if h.next, err = m.successor(ctx, at, a); err != nil {
			return chat.Receipt{}, err
		}
	}
	if !h.deleted {
		err := m.unsay(ctx, at.kind, a.Message)
		h.deleted = err == nil || begun && api.Is(err, noNote, "NO_SUCH_MESSAGE")
		if !h.deleted {
			if temporary(err) { // for the answer may be what was lost
				m.putHalf(a.Message, h)
			}
			return chat.Receipt{}, fmt.Errorf("edit a message: nothing new was written: %w", err)
		}
	}
	h.next.Text = a.Text
	var receipt chat.Receipt
	var err error
	if at.kind == chatPlace {
		receipt, err = m.write(ctx, letter{ToUserID: at.ref, Text: a.Text})
	} else {
		receipt, err = m.publish(ctx, h.next)
	}
	if err != nil {
		if !unsettled(err) {
			m.putHalf(a.Message, h)
		}
		return chat.Receipt{}, fmt.Errorf("edit a message: the old one is deleted: %w", err)
	}
	return receipt, nil
}

// successor is the note that comes in the place of an old one.
func (m *Misskey) successor(ctx context.Context, at place, a chat.Edit) (post, error) {
	if at.kind == chatPlace {
		return post{}, nil
	}
	next := post{ReplyID: string(a.ReplyTo)}
	old, err := m.show(ctx, string(a.Message))
	switch {
	case api.Is(err, noNote):
		next.Visibility = "public"
	case err != nil:
		return post{}, fmt.Errorf("edit a message: nothing was changed: read it: %w", api.Judge(err, false))
	default:
		next.ReplyID = cmp.Or(next.ReplyID, old.ReplyID.V)
		next = next.seenLike(old)
		next.CW = old.CW.V
		if next.Visibility == specified {
			next.Visible = old.Visible.V
		}
		for _, f := range old.Files.V {
			next.FileIDs = append(next.FileIDs, f.ID)
		}
	}
	if next.ReplyID != "" || at.kind == dmPlace {
		like, err := m.address(ctx, at, chat.MessageID(next.ReplyID))
		switch {
		case api.Is(err, noNote): // what it answers is gone: it keeps its own readers
			next.ReplyID = ""
		case err != nil:
			return post{}, fmt.Errorf("edit a message: nothing was changed: %w", err)
		default:
			next.ReplyID, next.Visibility, next.Visible = like.ReplyID, like.Visibility, like.Visible
		}
	}
	return next, nil
}

func (m *Misskey) takeHalf(id chat.MessageID) (half, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, ok := m.half[id]
	delete(m.half, id)
	return h, ok
}

func (m *Misskey) putHalf(id chat.MessageID, h half) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for some := range m.half {
		if len(m.half) < mostHalf {
			break
		}
		delete(m.half, some)
	}
	m.half[id] = h
}
