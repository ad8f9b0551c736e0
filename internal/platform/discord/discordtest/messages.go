package discordtest

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// channel finds the channel of a request, and says why it cannot be used. The lock is held.
func (s *Server) channel(r *http.Request, write bool) (*Channel, *fault) {
	c := s.channels[r.PathValue("channel")]
	switch {
	case c == nil || c.gone:
		return nil, no(http.StatusNotFound, 10003, "Unknown Channel")
	case c.ReadOnly && write:
		return nil, no(http.StatusForbidden, 50013, "Missing Permissions")
	case c.Type == Forum && write:
		return nil, no(http.StatusBadRequest, 50008, "Cannot send messages in a non-text channel")
	case write && c.Type == DM && s.people[c.Person].silent:
		return nil, no(http.StatusForbidden, 50007, "Cannot send messages to this user")
	}
	return c, nil
}

func (s *Server) readMessages(_ http.ResponseWriter, r *http.Request) result {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if q.Get("limit") == "" {
		limit, err = 50, nil
	}
	if err != nil || limit < 1 || limit > 100 {
		s.problem("history with a limit of %q", q.Get("limit"))
		return refuse(invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, f := s.channel(r, false)
	if f != nil {
		return refuse(f)
	}
	before, after := q.Get("before"), q.Get("after")
	found := slices.DeleteFunc(append([]*Message{}, c.messages...), func(m *Message) bool {
		return before != "" && !older(m.ID, before) || after != "" && !older(after, m.ID)
	})
	if c.Unread {
		found = found[:0]
	}
	// Those next to the message that was named, the newest first all the same.
	if most := min(limit, len(found)); after != "" {
		found = found[:most]
	} else {
		found = found[len(found)-most:]
	}
	slices.Reverse(found)
	return result{status: 200, body: found}
}

// older compares ids.
func older(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

func (s *Server) createMessage(w http.ResponseWriter, r *http.Request) result {
	ask, files, f := s.posted(r)
	if f != nil {
		return refuse(f)
	}
	if f := s.spend(w, r.PathValue("channel")); f != nil {
		return refuse(f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, f := s.channel(r, true)
	if f != nil {
		return refuse(f)
	}
	if m, known := s.nonces[ask.Nonce]; known && ask.Enforce && ask.Nonce != "" {
		return result{status: 200, schema: "message", body: m}
	}
	if f := ask.wrong(len(files) > 0); f != nil {
		return refuse(f)
	}
	m := s.newMessage(c, s.bot, strings.TrimSpace(ask.Content))
	m.Nonce, m.mentions = ask.Nonce, ask.Mentions
	m.Attachments = append(m.Attachments, files...)
	if ref := ask.Reference; ref != nil {
		switch {
		case c.Unread:
			return refuse(no(http.StatusForbidden, 160002, "Cannot reply without permission to read message history"))
		case c.find(ref.Message) != nil:
			m.Type, m.Reference = 19, &Reference{MessageID: ref.Message, ChannelID: c.ID, GuildID: c.Guild}
		case ref.Must == nil || *ref.Must:
			return refuse(invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message"))
		}
	}
	s.rung(m)
	if ask.Enforce && ask.Nonce != "" {
		s.nonces[ask.Nonce] = m
	}
	s.put(c, m)
	s.acted(Says, m, "")
	return result{status: 200, schema: "message", body: m}
}

// rung keeps of the mentions those that the message was allowed, as Discord does.
func (s *Server) rung(m *Message) {
	if m.mentions.Parse == nil {
		s.note("a message says nothing of whom it may mention")
		return
	}
	if !slices.Contains(*m.mentions.Parse, "users") {
		m.Mentions = slices.DeleteFunc(m.Mentions, func(u User) bool { return !slices.Contains(m.mentions.Users, u.ID) })
	}
	m.Everyone = slices.Contains(*m.mentions.Parse, "everyone") && strings.Contains(m.Content, "@everyone")
}

// wrong is what the schema does not tell.
func (a createMessage) wrong(files bool) *fault {
	switch {
	case utf8.RuneCountInString(a.Content) > 2000:
		return invalid("content", "BASE_TYPE_BAD_LENGTH", "Must be 2000 or fewer in length.")
	case strings.TrimSpace(a.Content) == "" && !files:
		return no(http.StatusBadRequest, 50006, "Cannot send an empty message")
	}
	return nil
}

// posted reads a message that is to be created, alone or with files.
func (s *Server) posted(r *http.Request) (ask createMessage, files []Attachment, f *fault) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ask, nil, no(http.StatusBadRequest, 50109, "no content type")
	}
	var text []byte
	if kind == "application/json" {
		text, f = s.bytesOf(r, "create-message")
	} else if text, files, err = s.parts(multipart.NewReader(r.Body, params["boundary"])); err != nil {
		s.problem("a form that is none: %v", err)
		f = no(http.StatusBadRequest, 50035, "Invalid Form Body")
	} else {
		f = s.valid(r, "create-message", text)
	}
	if f == nil {
		if err := json.Unmarshal(text, &ask); err != nil {
			f = no(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
		}
	}
	return ask, files, f
}

// parts reads a form: payload_json, and files[N].
func (s *Server) parts(form *multipart.Reader) (payload []byte, files []Attachment, err error) {
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return payload, files, nil
		}
		if err != nil {
			return nil, nil, err
		}
		data, err := io.ReadAll(io.LimitReader(part, 25<<20))
		if err != nil {
			return nil, nil, err
		}
		switch {
		case part.FormName() == "payload_json":
			payload = data
		case strings.HasPrefix(part.FormName(), "files["):
			s.mu.Lock()
			files = append(files, s.upload(part.FileName(), http.DetectContentType(data), data))
			s.mu.Unlock()
		default:
			s.problem("a form with %q", part.FormName())
		}
	}
}

// mine finds a message of a request; its author must be the bot when it is to be changed. The lock is held.
func (s *Server) mine(r *http.Request, own bool) (*Channel, *Message, *fault) {
	c, f := s.channel(r, !own)
	if f != nil {
		return nil, nil, f
	}
	m := c.find(r.PathValue("message"))
	switch {
	case m == nil:
		return nil, nil, no(http.StatusNotFound, 10008, "Unknown Message")
	case own && m.Author.ID != s.bot.ID:
		return nil, nil, no(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
	}
	return c, m, nil
}

func (s *Server) editMessage(_ http.ResponseWriter, r *http.Request) result {
	text, f := s.bytesOf(r, "edit-message")
	if f != nil {
		return refuse(f)
	}
	var ask createMessage
	if err := json.Unmarshal(text, &ask); err != nil {
		return refuse(no(http.StatusBadRequest, 50109, "The request body contains invalid JSON."))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, f := s.mine(r, true)
	if f == nil {
		f = ask.wrong(false)
	}
	if f != nil {
		return refuse(f)
	}
	m.mentions = ask.Mentions
	s.rung(m)
	s.change(c, m, ask.Content)
	s.acted(Edits, m, "")
	return result{status: 200, schema: "message", body: m}
}

func (s *Server) deleteMessage(_ http.ResponseWriter, r *http.Request) result {
	s.mu.Lock()
	c, m, f := s.mine(r, true)
	if f == nil {
		s.acted(Deletes, m, "")
	}
	s.mu.Unlock()
	if f != nil {
		return refuse(f)
	}
	s.Delete(c, m.ID)
	return empty
}

func (s *Server) react(_ http.ResponseWriter, r *http.Request) result {
	emoji, err := url.PathUnescape(r.PathValue("emoji"))
	if err != nil {
		emoji = r.PathValue("emoji")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, m, f := s.mine(r, false)
	if f != nil {
		return refuse(f)
	}
	name, id, custom := strings.Cut(emoji, ":")
	put := Reaction{Emoji: ReactionEmoji{Name: name}, Count: 1, Colors: []string{}, Me: true}
	put.Details.Normal = 1
	if custom {
		put.Emoji.ID = &id
	}
	if custom != (s.emoji(id) != nil) || !custom && utf8.RuneCountInString(emoji) > 10 || emoji == "" || !custom && emoji[0] < 0x80 {
		return refuse(no(http.StatusBadRequest, 10014, "Unknown Emoji"))
	}
	if !slices.ContainsFunc(m.Reactions, func(have Reaction) bool { return have.Emoji.Name == name && have.Me }) {
		m.Reactions = append(m.Reactions, put)
		s.acted(Reacts, m, emoji)
	}
	s.tell()
	return empty
}

// emoji finds a custom emoji. The lock is held.
func (s *Server) emoji(id string) *Emoji {
	all := slices.Clone(s.emojis)
	for _, g := range s.guilds {
		all = append(all, g.Emojis...)
	}
	for _, e := range all {
		if e.ID == id {
			return &e
		}
	}
	return nil
}

func (s *Server) typing(_ http.ResponseWriter, r *http.Request) result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, f := s.channel(r, true); f != nil {
		return refuse(f)
	}
	s.tally.Typed = append(s.tally.Typed, time.Now())
	s.tell()
	return empty
}
