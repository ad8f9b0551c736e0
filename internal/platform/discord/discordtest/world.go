package discordtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Guild is a server.
type Guild struct {
	ID, Name string
	Roles    []Role
	Emojis   []Emoji
}

// The types of channel.
const (
	Text   = 0
	DM     = 1
	Voice  = 2
	News   = 5
	Thread = 11
	Forum  = 15
)

// Channel is a channel, or the direct talk with one person.
type Channel struct {
	ID, Name string
	Type     int
	Guild    string // "" for a direct one
	Person   string // of a direct one
	ReadOnly bool   // the bot may not write there
	Unread   bool   // the bot may not read there what was said before

	messages []*Message
	gone     bool
}

type stored struct {
	kind string
	data []byte
}

// AddUser makes a person. name is the display name; "" leaves the user name.
func (s *Server) AddUser(username, name string) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newUser(username, name)
}

func (s *Server) newUser(username, name string) User {
	u := User{ID: s.newThing(), Username: username, Discriminator: "0"}
	if name != "" {
		u.GlobalName = &name
	}
	s.people[u.ID] = u
	return u
}

// Change does something to an account, such as marking it as a bot, giving it a nick, or closing its direct messages.
func (s *Server) Change(id string, do func(u *User)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.people[id]
	do(&u)
	s.people[id] = u
}

// Nick is what everybody calls an account in servers.
func (u *User) Nick(nick string) { u.nick = nick }

// Silent lets an account take no direct messages.
func (u *User) Silent() { u.silent = true }

// AddGuild makes a server, and tells those who are connected.
func (s *Server) AddGuild(name string, roles []Role, emojis ...Emoji) *Guild {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &Guild{ID: s.newThing(), Name: name, Roles: roles, Emojis: emojis}
	for i := range g.Emojis {
		s.complete(&g.Emojis[i])
	}
	s.guilds[g.ID] = g
	s.dispatch("GUILD_CREATE", intentGuilds, s.guildCreate(g))
	return g
}

func (s *Server) complete(e *Emoji) {
	if e.ID == "" {
		e.ID = s.newThing()
	}
	if e.Roles == nil {
		e.Roles = []string{}
	}
	e.Colons = true
}

// AddEmojis gives the application emojis of its own.
func (s *Server) AddEmojis(emojis ...Emoji) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range emojis {
		s.complete(&e)
		s.emojis = append(s.emojis, e)
	}
}

// AddSticker makes a sticker of a server.
func (s *Server) AddSticker(g *Guild, name, tags string) Sticker {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := Sticker{ID: s.newThing(), Name: name, Tags: tags, Type: 2, Format: 1, Available: true, GuildID: g.ID}
	s.stickers[made.ID] = made
	return made
}

// AddChannel makes a channel of a server.
func (s *Server) AddChannel(g *Guild, name string, kind int) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Channel{ID: s.newThing(), Name: name, Type: kind, Guild: g.ID}
	s.channels[c.ID] = c
	s.dispatch("CHANNEL_CREATE", intentGuilds, toldChannel{ID: c.ID, Type: c.Type, GuildID: c.Guild, Name: c.Name})
	return c
}

// Direct is the direct talk of the bot with a person, made when there is none.
func (s *Server) Direct(person User) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.directOf(person.ID)
}

func (s *Server) directOf(person string) *Channel {
	for _, c := range s.channels {
		if c.Type == DM && c.Person == person {
			return c
		}
	}
	c := &Channel{ID: s.newThing(), Type: DM, Person: person}
	s.channels[c.ID] = c
	return c
}

// Close lets nobody write to a channel any more: it was deleted.
func (s *Server) CloseChannel(c *Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.gone = true
}

// Post is something that a person says.
type Post struct {
	Text        string
	ReplyTo     string
	Pings       bool // of a reply: its author is told
	Everyone    bool
	Stickers    []Sticker
	Attachments []Attachment
	Forward     *Message // is forwarded: a copy of it as it is now
	Question    string   // of a poll
	Answers     []string // to it
	Type        int
	Webhook     string
}

// Say lets somebody say something.
func (s *Server) Say(c *Channel, from User, text string) Message {
	return s.Post(c, from, Post{Text: text})
}

// Post lets somebody say something of any kind.
func (s *Server) Post(c *Channel, from User, p Post) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.newMessage(c, s.people[from.ID], p.Text)
	m.Type, m.Everyone, m.Webhook = p.Type, p.Everyone, p.Webhook
	for _, st := range p.Stickers {
		m.Stickers = append(m.Stickers, StickerItem{st.ID, st.Name, st.Format})
	}
	for _, a := range p.Attachments {
		a.ID = s.newID()
		m.Attachments = append(m.Attachments, a)
	}
	if p.Forward != nil {
		m.Reference = &Reference{Type: 1, MessageID: p.Forward.ID, ChannelID: p.Forward.ChannelID}
		m.Snapshots = []Snapshot{snapshot(*p.Forward)}
	}
	if p.Question != "" {
		m.Poll = poll(p)
	}
	if p.ReplyTo != "" {
		m.Type, m.Reference = 19, &Reference{MessageID: p.ReplyTo, ChannelID: c.ID, GuildID: c.Guild}
		if answered := c.find(p.ReplyTo); answered != nil && p.Pings {
			m.Mentions = append(m.Mentions, s.people[answered.Author.ID])
		}
	}
	s.put(c, m)
	return *m
}

func snapshot(of Message) (s Snapshot) {
	m := &s.Message
	m.Type, m.Content, m.At, m.EditedAt, m.Flags = of.Type, of.Content, of.At, of.EditedAt, of.Flags
	m.Mentions, m.MentionRoles, m.Attachments = of.Mentions, of.MentionRoles, of.Attachments
	m.Embeds, m.Components, m.Stickers = of.Embeds, of.Components, of.Stickers
	return s
}

func poll(p Post) *Poll {
	made := &Poll{Question: PollMedia{p.Question}, Layout: 1}
	for i, text := range p.Answers {
		made.Answers = append(made.Answers, PollAnswer{i + 1, PollMedia{text}})
	}
	return made
}

func (s *Server) newMessage(c *Channel, from User, text string) *Message {
	id := s.newID()
	m := &Message{ID: id, ChannelID: c.ID, Author: from, Content: text, At: timeOf(id), Mentions: []User{}, MentionRoles: []string{},
		Attachments: []Attachment{}, Embeds: []struct{}{}, Components: []struct{}{}}
	for _, u := range s.people {
		if strings.Contains(text, "<@"+u.ID+">") || strings.Contains(text, "<@!"+u.ID+">") {
			m.Mentions = append(m.Mentions, u)
		}
	}
	return m
}

// put keeps a message and tells everybody.
func (s *Server) put(c *Channel, m *Message) {
	c.messages = append(c.messages, m)
	s.tellMessage("MESSAGE_CREATE", c, m)
}

func (s *Server) tellMessage(kind string, c *Channel, m *Message) {
	intent := intentGuildMessages
	told := dispatched{Message: m, GuildID: c.Guild}
	if c.Guild == "" {
		intent = intentDirectMessages
	} else if m.Webhook == "" {
		told.Member = &member{Roles: []string{}, JoinedAt: timeOf(m.Author.ID)}
		if nick := s.people[m.Author.ID].nick; nick != "" {
			told.Member.Nick = &nick
		}
	}
	s.dispatch(kind, intent, told)
}

// Edit lets the author change a message.
func (s *Server) Edit(c *Channel, id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := c.find(id); m != nil {
		s.change(c, m, text)
	}
}

func (s *Server) change(c *Channel, m *Message, text string) {
	now := time.Now().UTC()
	m.Content, m.EditedAt = text, &now
	s.tellMessage("MESSAGE_UPDATE", c, m)
}

// Unfurl tells that a preview was added to a message: an update that edits nothing.
func (s *Server) Unfurl(c *Channel, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellMessage("MESSAGE_UPDATE", c, c.find(id))
}

type toldDeletion struct {
	ID        string   `json:"id,omitempty"`
	IDs       []string `json:"ids,omitempty"`
	ChannelID string   `json:"channel_id"`
	GuildID   string   `json:"guild_id,omitempty"`
}

// Delete takes messages away, in one go when they are several.
func (s *Server) Delete(c *Channel, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.messages = slices.DeleteFunc(c.messages, func(m *Message) bool { return slices.Contains(ids, m.ID) })
	intent := intentGuildMessages
	if c.Guild == "" {
		intent = intentDirectMessages
	}
	if len(ids) == 1 {
		s.dispatch("MESSAGE_DELETE", intent, toldDeletion{ID: ids[0], ChannelID: c.ID, GuildID: c.Guild})
		return
	}
	s.dispatch("MESSAGE_DELETE_BULK", intent, toldDeletion{IDs: ids, ChannelID: c.ID, GuildID: c.Guild})
}

// Repeat dispatches a message once more, as after a resume.
func (s *Server) Repeat(c *Channel, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellMessage("MESSAGE_CREATE", c, c.find(id))
}

// Raw dispatches anything. data is JSON.
func (s *Server) Raw(kind, data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dispatch(kind, 0, json.RawMessage(data))
}

// Upload keeps a file and returns its attachment. kind and size are what Discord would claim of it.
func (s *Server) Upload(name, kind string, data []byte) Attachment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.upload(name, kind, data)
}

func (s *Server) upload(name, kind string, data []byte) Attachment {
	id := s.newID()
	s.files[id] = stored{kind, data}
	url := fmt.Sprintf("%s/attachments/%s/%s", s.base(), id, name)
	return Attachment{ID: id, Name: name, Type: kind, Size: len(data), URL: url, Proxy: url}
}

// Said returns the messages of a channel, oldest first.
func (s *Server) Said(c *Channel) (all []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range c.messages {
		all = append(all, *m)
	}
	return all
}

// Posted returns what the bot says in a channel now.
func (s *Server) Posted(c *Channel) (all []string) {
	for _, m := range s.Said(c) {
		if m.Author.ID == s.bot.ID {
			all = append(all, m.Content)
		}
	}
	return all
}

func (c *Channel) find(id string) *Message {
	for _, m := range c.messages {
		if m.ID == id {
			return m
		}
	}
	return nil
}
