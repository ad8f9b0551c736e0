package misskey

import (
	"cmp"
	"context"
	"fmt"

	"familiar/internal/chat"
)

// mostHalf is how many edits may be half done; of more the oldest words are lost, not the order.
const mostHalf = 100

// edit deletes a message of ours and writes another in its place: with the same readers, and as an answer to what the
// first one answered. When the old one cannot be deleted, nothing is written. An edit that is asked for again after its
// old message was deleted goes on from there, unless the new one may be there.
func (m *Misskey) edit(ctx context.Context, at place, a chat.Edit) (chat.Receipt, error) {
	next, begun := m.takeHalf(a.Message)
	if !begun {
		var err error
		if next, err = m.successor(ctx, at, a); err != nil {
			return chat.Receipt{}, err
		}
		if err := m.unsay(ctx, at.kind, a.Message); err != nil {
			return chat.Receipt{}, fmt.Errorf("edit a message: nothing was changed: %w", err)
		}
	}
	next.Text = a.Text
	var receipt chat.Receipt
	var err error
	if at.kind == chatPlace {
		receipt, err = m.write(ctx, letter{ToUserID: at.ref, Text: next.Text})
	} else {
		receipt, err = m.publish(ctx, next)
	}
	if err != nil {
		if !unsettled(err) {
			m.putHalf(a.Message, next)
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
	case is(err, "NO_SUCH_NOTE"):
		next.Visibility = "public"
	case err != nil:
		return post{}, fmt.Errorf("edit a message: nothing was changed: read it: %w", judge(err, false))
	default:
		next.ReplyID = cmp.Or(next.ReplyID, old.ReplyID.V)
		next = next.seenLike(old)
		if next.Visibility == specified {
			next.Visible = old.Visible.V
		}
		for _, f := range old.Files.V {
			next.FileIDs = append(next.FileIDs, f.ID)
		}
	}
	if next.ReplyID != "" || at.kind == dmPlace {
		like, err := m.address(ctx, at, chat.MessageID(next.ReplyID))
		if err != nil {
			return post{}, fmt.Errorf("edit a message: nothing was changed: %w", err)
		}
		next.Visibility, next.Visible = like.Visibility, like.Visible
	}
	return next, nil
}

func (m *Misskey) takeHalf(id chat.MessageID) (post, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.half[id]
	delete(m.half, id)
	return p, ok
}

func (m *Misskey) putHalf(id chat.MessageID, p post) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.half) < mostHalf {
		m.half[id] = p
	}
}
