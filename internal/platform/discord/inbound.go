package discord

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"familiar/internal/chat"
)

// dispatch hands on what happened. What is not understood concerns nobody else.
func (g *gateway) dispatch(ctx context.Context, f frame) {
	var err error
	switch f.Type {
	case "READY":
		var r ready
		if err = json.Unmarshal(f.Data, &r); err == nil {
			g.begin(r)
			g.missed(ctx)
			g.beside(func() { g.clean(ctx, r) })
		}
	case "RESUMED":
		g.resume.tries = 0
		g.up()
	case "MESSAGE_CREATE", "MESSAGE_UPDATE":
		var m message
		if err = json.Unmarshal(f.Data, &m); err == nil {
			g.wrote(ctx, m, f.Type == "MESSAGE_UPDATE")
		}
	case "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		var gone deletion
		if err = json.Unmarshal(f.Data, &gone); err == nil {
			g.deleted(ctx, gone)
		}
	default:
		err = g.known.take(f)
	}
	if err != nil {
		g.log.Warn("an event of Discord was not understood", "type", f.Type, chat.KeyErr, err)
	}
}

// begin is the first word of a new session.
func (g *gateway) begin(r ready) {
	g.resume = session{id: r.SessionID, url: strings.TrimRight(r.ResumeURL, "/"), seq: g.seq.Load()}
	us := person(r.User, "")
	us.Us, us.Bot = true, true
	g.known.learn(func() { g.known.us, g.known.self = r.User.ID, us })
	g.up()
}

// wrote hands on a message, or its new text.
func (g *gateway) wrote(ctx context.Context, m message, edited bool) {
	if !m.spoken() || edited && m.EditedAt == nil { // without a time nothing was edited: a preview was added
		return
	}
	ev := g.event(m)
	if ev.Addressed && !ev.From.Us && !ev.From.Bot {
		g.lookUp(ctx, m.Stickers)
		if m.unreadable() {
			g.log.Warn("a message holds nothing that can be read here", "id", m.ID)
		}
	}
	said := g.message(m)
	kind, revision := chat.KindSaid, ""
	if edited {
		kind, revision = chat.KindEdited, m.EditedAt.UTC().Format(time.RFC3339Nano)
		ev.At, ev.Body = *m.EditedAt, chat.Edited{Of: ev.Message, Text: said.Text}
	} else {
		ev.Body = chat.Said{Text: said.Text, ReplyTo: said.ReplyTo, Attachments: said.Attachments}
	}
	if ev.Addressed {
		g.authors.note(ev)
	}
	ev.ID = chat.NewEventID(g.account(), ev.Place, kind, m.ID, revision)
	g.handIn(ctx, ev)
}

// event is what a message is besides its words.
func (d *Discord) event(m message) chat.Event {
	ev := chat.Event{At: m.At, Place: place(m.ChannelID, m.GuildID), From: d.author(m), Message: chat.MessageID(m.ID)}
	switch {
	case m.GuildID == "":
		ev.Addressed = d.cfg.AllowDM
	case d.serves(m.GuildID):
		ev.Addressed = d.cfg.RespondToMention && d.mentioned(m) ||
			d.cfg.CommandPrefix != "" && strings.HasPrefix(m.Content, d.cfg.CommandPrefix)
	}
	return ev
}

// serves says whether a server is one of those that are served.
func (d *Discord) serves(guild string) bool {
	for _, id := range d.cfg.GuildIDs {
		if id == guild {
			return true
		}
	}
	return len(d.cfg.GuildIDs) == 0
}

// mentioned says whether we are in the list of Discord's own: everybody, or a role of ours, is not us.
func (d *Discord) mentioned(m message) bool {
	for _, u := range m.Mentions {
		if d.isUs(u.ID) {
			return true
		}
	}
	return false
}

// deleted hands on that messages are gone. Discord does not say who wrote them.
func (g *gateway) deleted(ctx context.Context, gone deletion) {
	if gone.ID != "" {
		gone.IDs = append(gone.IDs, gone.ID)
	}
	at := place(gone.ChannelID, gone.GuildID)
	for _, id := range gone.IDs {
		of := chat.MessageID(id)
		from, ok := g.authors.of(at.ID, id)
		if !ok {
			continue // it never was for us, or is long ago
		}
		g.handIn(ctx, chat.Event{ID: chat.NewEventID(g.account(), at, chat.KindRecalled, id, ""), At: time.Now(), Place: at, From: from,
			Message: of, Addressed: true, Body: chat.Recalled{Of: of}})
	}
}

func (d *Discord) account() (id string) {
	d.known.learn(func() { id = d.known.us })
	return id
}

// person is a user. In a server they may have another name.
func person(u user, nick string) chat.Person {
	p := chat.Person{Platform: Name, ID: u.ID, Name: nick, Bot: u.Bot}
	if strings.TrimSpace(p.Name) == "" {
		p.Name = u.GlobalName
	}
	if strings.TrimSpace(p.Name) == "" {
		p.Name = u.Username
	}
	return p
}

// author is who wrote a message; what came through a webhook is a program's.
func (d *Discord) author(m message) chat.Person {
	p := person(m.Author, m.Member.Nick)
	p.Us = d.isUs(p.ID)
	p.Bot = p.Bot || p.Us || m.Webhook != ""
	return p
}

// message is a message as history tells it.
func (d *Discord) message(m message) chat.Message {
	from := d.author(m)
	out := chat.Message{ID: chat.MessageID(m.ID), From: from, At: m.At, Text: m.Content, Addressed: d.mentioned(m)}
	if !from.Us { // our own words stay as we said them
		out.Text = d.words(m)
	}
	if m.Type == typeReply {
		out.ReplyTo = chat.MessageID(m.Reference.Message)
	}
	for _, a := range m.files() {
		out.Attachments = append(out.Attachments, attached(a))
	}
	for _, r := range m.Reactions {
		out.Reacted = out.Reacted || r.Me
	}
	return out
}

func attached(a attachment) chat.Attachment {
	out := chat.Attachment{ID: a.ID, URL: a.URL, MIME: a.Type, Name: a.Name, Size: max(a.Size, 0), Width: max(a.Width, 0), Height: max(a.Height, 0)}
	if out.MIME == "" {
		out.MIME = "application/octet-stream"
	}
	if out.Name == "" {
		out.Name = "unknown"
	}
	return out
}
