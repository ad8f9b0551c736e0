package misskeytest

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Draft is what somebody writes. A note of the visibility specified is shown to the bot unless Visible says otherwise.
type Draft struct {
	ID         string // "" for a new one
	Text       string
	Visibility string // "" for public
	Visible    []string
	ReplyTo    string
	CW         string
	LocalOnly  bool
	Files      []string
	Poll       []string
	Quotes     string
	Quiet      bool // names in the text call nobody
}

// Write lets somebody write a note; if it concerns the bot, its streams say so.
func (in *Instance) Write(author User, d Draft) Note {
	in.mu.Lock()
	defer in.mu.Unlock()
	n := in.add(in.users[author.ID], d)
	return *n
}

func (in *Instance) add(author *User, d Draft) *Note {
	n := &Note{ID: cmp.Or(d.ID, in.id()), CreatedAt: in.now(), UserID: author.ID, User: author,
		Visibility: cmp.Or(d.Visibility, "public"), LocalOnly: d.LocalOnly, FileIDs: d.Files, Visible: d.Visible}
	if d.Text != "" {
		n.Text = new(strings.TrimSpace(d.Text))
	}
	if d.CW != "" {
		n.CW = &d.CW
	}
	if d.ReplyTo != "" {
		n.ReplyID = &d.ReplyTo
	}
	if n.Visibility == "specified" && author != in.me && n.Visible == nil {
		n.Visible = []string{in.me.ID}
	}
	if d.Quotes != "" {
		n.RenoteID = &d.Quotes
	}
	if len(d.Poll) > 0 {
		n.Poll = &Poll{}
		for _, text := range d.Poll {
			n.Poll.Choices = append(n.Poll.Choices, Choice{Text: text})
		}
	}
	for _, id := range d.Files {
		n.Files = append(n.Files, in.files[id])
	}
	n.Mentions = in.mentions(n, d.Quiet)
	in.notes, in.byID[n.ID] = append(in.notes, n), n
	if n.ReplyID != nil {
		in.replies[*n.ReplyID]++
	}
	in.change()
	if author != in.me && slices.Contains(n.Mentions, in.me.ID) && in.sees(in.me, n) {
		publishTo(in, "mention", in.pack(n, in.me))
	}
	return n
}

// mentions are the accounts that a note names, answers or is shown to: they are told, and what they may read is sent to
// their instances.
func (in *Instance) mentions(n *Note, quiet bool) (all []string) {
	text := ""
	if n.Text != nil && !quiet {
		text = strings.ToLower(*n.Text)
	}
	for id, u := range in.users {
		answered := false
		if parent := in.note(n.ReplyID); parent != nil {
			answered = parent.UserID == id
		}
		if id != n.UserID && (strings.Contains(text, "@"+strings.ToLower(u.Username)) || answered || slices.Contains(n.Visible, id)) {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

// Chat lets somebody write to the bot.
func (in *Instance) Chat(author User, text string, files ...string) ChatMessage {
	in.mu.Lock()
	defer in.mu.Unlock()
	c := &ChatMessage{ID: in.id(), CreatedAt: in.now(), FromUserID: author.ID, ToUserID: in.me.ID}
	if text != "" {
		c.Text = &text
	}
	if len(files) > 0 {
		c.FileID, c.File = &files[0], in.files[files[0]]
	}
	in.chats = append(in.chats, c)
	in.unread[author.ID] = true
	in.change()
	in.tell(c)
	return *c
}

// tell announces a chat message, unless it is read first.
func (in *Instance) tell(c *ChatMessage) {
	if in.announce == 0 {
		publishTo(in, "newChatMessage", in.packChat(c))
		return
	}
	in.works.Go(func() {
		select {
		case <-time.After(in.announce):
		case <-in.done:
			return
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		if in.unread[c.FromUserID] {
			publishTo(in, "newChatMessage", in.packChat(c))
		}
	})
}

// Again repeats the announcement of a note.
func (in *Instance) Again(id string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if n := in.note(&id); n != nil {
		publishTo(in, "mention", in.pack(n, in.me))
	}
}

// AgainChat repeats the announcement of a chat message.
func (in *Instance) AgainChat(id string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, c := range in.chats {
		if c.ID == id {
			publishTo(in, "newChatMessage", in.packChat(c))
		}
	}
}
