package host

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/platform/discord"
	"familiar/internal/platform/discord/discordtest"
	"familiar/internal/secret"
)

// discordWorld is one server of the strict fake: a place is a channel of it, a thread where its name begins with
// thread, and dm-ann is the direct channel of Ann. Who speaks to the bot in a channel mentions it.
type discordWorld struct {
	*discordtest.Server
	names  *names
	guild  *discordtest.Guild
	people map[string]discordtest.User
	rooms  map[string]*discordtest.Channel // by what the story calls them
	where  map[chat.MessageID]*discordtest.Channel
}

func openDiscordWorld(t *testing.T, n *names) *discordWorld {
	t.Helper()
	d := openDiscord(t)
	w := &discordWorld{Server: d.Server, names: n, people: map[string]discordtest.User{}, rooms: map[string]*discordtest.Channel{},
		where: map[chat.MessageID]*discordtest.Channel{}}
	w.guild = d.AddGuild("The Green House", nil, discordtest.Emoji{Name: "fern", Available: true})
	fern := w.guild.Emojis[0]
	n.call("fern:"+fern.ID, ":fern:")
	n.person(d.Bot().ID, "bot")
	return w
}

func (*discordWorld) name() string { return discord.Name }

func (w *discordWorld) id(of string) string {
	switch {
	case of == "@bot":
		return w.Bot().ID
	case of[0] == '@':
		return w.person(of[1:]).ID
	}
	return w.room(of[1:]).ID
}

func (w *discordWorld) join(o *Options) {
	cfg := &o.Loaded.Config.Platforms.Discord
	cfg.Enabled, cfg.Token, cfg.APIURL = true, secret.New(w.Token()), w.URL()
	o.Network = nil
}

// person is somebody by name, who is there from then on; a hermit takes no direct messages.
func (w *discordWorld) person(name string) discordtest.User {
	if known, ok := w.people[name]; ok {
		return known
	}
	made := w.AddUser(name, titled(name))
	w.people[name] = made
	w.names.person(made.ID, name)
	if name == "hermit" {
		w.Change(made.ID, (*discordtest.User).Silent)
	}
	w.room("dm-" + name)
	return made
}

func (w *discordWorld) room(name string) *discordtest.Channel {
	if known, ok := w.rooms[name]; ok {
		return known
	}
	var made *discordtest.Channel
	alone, direct := strings.CutPrefix(name, "dm-")
	switch {
	case direct:
		made = w.Direct(w.person(alone))
	case strings.HasPrefix(name, "thread"):
		made = w.AddChannel(w.guild, name, discordtest.Thread)
	default:
		made = w.AddChannel(w.guild, name, discordtest.Text)
	}
	w.rooms[name] = made
	w.names.call(made.ID, name)
	return made
}

func (w *discordWorld) does(d deed) (chat.MessageID, error) {
	next := discordtest.Answer{Match: "POST /channels/", Times: d.times}
	switch d.verb {
	case "says":
		return w.says(d)
	case "edits":
		w.Edit(w.where[d.of], string(d.of), w.toUs(w.where[d.of], d))
	case "recalls":
		w.Delete(w.where[d.of], string(d.of))
	case "repeats":
		w.Repeat(w.where[d.of], string(d.of))
	case "refuses":
		next.Status, next.Body = http.StatusForbidden, `{"code": 50013, "message": "Missing Permissions"}`
		w.Fail(next)
	case "limits":
		next.Status, next.Body = http.StatusTooManyRequests, `{"message": "You are being rate limited.", "retry_after": 0.2, "global": false}`
		next.Header = map[string]string{"Retry-After": "1"}
		w.Fail(next)
	case "loses":
		next.Done, next.Abort = true, true
		w.Fail(next)
	case "drops":
		w.Drop(0)
	case "pulses":
		w.Say(w.room("dm-"+pulse), w.person(pulse), pulse)
	default:
		return "", errNoSuch
	}
	return d.of, nil
}

// toUs are words as somebody types them who wants the bot to read them.
func (w *discordWorld) toUs(in *discordtest.Channel, d deed) string {
	if in.Type == discordtest.DM || d.aside {
		return d.words
	}
	return "<@" + w.Bot().ID + "> " + d.words
}

func (w *discordWorld) says(d deed) (chat.MessageID, error) {
	if d.program || d.album != "" || d.audience != "" {
		return "", errNoSuch
	}
	from, in := w.person(d.who), w.room(d.place)
	w.Change(from.ID, func(u *discordtest.User) { u.Bot = d.bot })
	post := discordtest.Post{Text: w.toUs(in, d), ReplyTo: string(d.to)}
	if d.sticker != "" {
		post.Stickers = []discordtest.Sticker{w.AddSticker(w.guild, d.sticker, "hello")}
	}
	for _, name := range d.files {
		post.Attachments = append(post.Attachments, w.Upload(name, mimeOf(name), content(name)))
	}
	m := w.Post(in, from, post)
	w.where[chat.MessageID(m.ID)] = in
	return chat.MessageID(m.ID), nil
}

func (w *discordWorld) reached() (lines []string) {
	said := 0
	for _, act := range w.Acts() {
		m := act.Message
		line := m.ChannelID + ": " + m.ID
		switch act.Deed {
		case discordtest.Says:
			said++
			w.names.call(m.ID, fmt.Sprint("b", said))
			line = m.ChannelID + ": " + m.ID + answering(m) + ": " + shownWith(m)
		case discordtest.Edits:
			line += " is now: " + m.Content
		case discordtest.Deletes:
			line += " is gone"
		case discordtest.Reacts:
			line += " gets " + act.Emoji
		}
		lines = append(lines, line)
	}
	return lines
}

func answering(m discordtest.Message) string {
	if m.Reference == nil {
		return ""
	}
	return " to " + m.Reference.MessageID
}

// shownWith is a message with its files, and with those whom it rings.
func shownWith(m discordtest.Message) string {
	var all []string
	for _, a := range m.Attachments {
		all = append(all, "[file "+a.Name+"]")
	}
	for _, u := range m.Mentions {
		all = append(all, "[rings "+u.ID+"]")
	}
	if m.Everyone {
		all = append(all, "[rings everyone]")
	}
	return strings.TrimSpace(strings.Join(all, " ") + " " + m.Content)
}
