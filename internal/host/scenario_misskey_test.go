package host

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey"
	"familiar/internal/platform/misskey/misskeytest"
	"familiar/internal/secret"
)

// misskeyWorld is the strict fake of an instance. Whatever is said in a place is a note that mentions the bot; dm-ann
// are the notes that Ann and the bot alone can see, chat-ann is their chat.
type misskeyWorld struct {
	*misskeytest.Instance
	t      *testing.T
	names  *names
	people map[string]misskeytest.User
	where  map[string]string // what the story calls the place of a message
	said   map[chat.MessageID]deed
}

func openMisskeyWorld(t *testing.T, n *names) *misskeyWorld {
	t.Helper()
	in := misskeytest.Start()
	t.Cleanup(func() {
		in.Close()
		if found := in.Faults(); len(found) > 0 {
			t.Errorf("rules of Misskey were broken: %q", found)
		}
	})
	n.person(in.Me().ID, "bot")
	return &misskeyWorld{Instance: in, t: t, names: n, people: map[string]misskeytest.User{}, where: map[string]string{},
		said: map[chat.MessageID]deed{}}
}

func (*misskeyWorld) name() string { return misskey.Name }

func (w *misskeyWorld) id(of string) string {
	switch {
	case of == "@bot":
		return w.Me().ID
	case of[0] == '@':
		return w.person(of[1:], false).ID
	}
	return of[1:] // a note is its own place
}

func (w *misskeyWorld) join(o *Options) {
	cfg := &o.Loaded.Config.Platforms.Misskey
	cfg.Enabled, cfg.Token, cfg.Host, cfg.Secure = true, secret.New(misskeytest.Token), w.Host(), false
	o.Network = nil
}

func (w *misskeyWorld) person(name string, bot bool) misskeytest.User {
	if known, ok := w.people[name]; ok {
		return known
	}
	made := w.User(name, titled(name), bot)
	w.people[name] = made
	w.names.person(made.ID, name)
	w.names.alias("dm:"+made.ID, "dm-"+name)
	w.names.alias("chat:"+made.ID, "dm-"+name)
	return made
}

func (w *misskeyWorld) does(d deed) (chat.MessageID, error) {
	fault := misskeytest.Refusal(http.StatusBadRequest, "YOU_HAVE_BEEN_BLOCKED")
	switch d.verb {
	case "edits", "recalls": // only who watches a note is told
		w.Settle(w.t.Context())
	}
	switch d.verb {
	case "says":
		return w.says(d)
	case "edits": // the author deletes the note, and writes another one
		now := w.said[d.of]
		now.words = d.words
		w.Delete(string(d.of))
		return w.says(now)
	case "recalls":
		w.Delete(string(d.of))
	case "repeats":
		w.Again(string(d.of))
		w.AgainChat(string(d.of))
	case "limits":
		fault = misskeytest.Refusal(http.StatusTooManyRequests, "RATE_LIMIT_EXCEEDED")
		fault.Header = http.Header{"Retry-After": {"1"}}
		fallthrough
	case "refuses":
		w.fails(fault, d.times)
	case "loses":
		w.fails(misskeytest.Misbehaviour{Done: true, Break: true}, d.times)
	case "drops":
		w.Drop()
	case "pulses":
		w.Chat(w.person(pulse, false), pulse)
	default:
		return "", errNoSuch
	}
	return d.of, nil
}

func (w *misskeyWorld) fails(fault misskeytest.Misbehaviour, times int) {
	for range times {
		w.Misbehave(misskeytest.Speaking, fault)
	}
}

func (w *misskeyWorld) says(d deed) (chat.MessageID, error) {
	if d.program || d.album != "" || d.sticker != "" {
		return "", errNoSuch
	}
	author := w.person(d.who, d.bot)
	var files []string
	for _, name := range d.files {
		files = append(files, w.Keep(name, content(name)))
	}
	var id string
	switch {
	case strings.HasPrefix(d.place, "chat-"):
		id = w.Chat(author, d.words, files...).ID
	case strings.HasPrefix(d.place, "dm-"):
		id = w.Write(author, misskeytest.Draft{Text: d.words, Visibility: "specified", ReplyTo: string(d.to), Files: files}).ID
	default:
		text := "@" + w.Me().Username + " " + d.words
		if d.aside {
			text = d.words
		}
		id = w.Write(author, misskeytest.Draft{Text: text, Visibility: d.audience, ReplyTo: string(d.to), Files: files}).ID
		w.names.alias("note:"+id, d.place)
	}
	w.where[id], w.said[chat.MessageID(id)] = d.place, d
	return chat.MessageID(id), nil
}

func (w *misskeyWorld) reached() (lines []string) {
	said := 0
	for _, act := range w.Acts() {
		id := cmp.Or(act.Note.ID, act.Chat.ID)
		if act.Deed == misskeytest.Writes {
			said++
			w.names.call(id, fmt.Sprint("b", said))
			w.where[id] = w.placeOf(act)
		}
		line := w.where[id] + ": " + id
		switch act.Deed {
		case misskeytest.Writes:
			line += w.shown(act)
		case misskeytest.Deletes:
			line += " is gone"
		case misskeytest.Reacts:
			line += " gets " + act.Emoji
		}
		lines = append(lines, line)
	}
	return lines
}

// placeOf is where something that the bot wrote stands.
func (w *misskeyWorld) placeOf(act misskeytest.Act) string {
	note := act.Note
	switch {
	case note.ID == "" && w.names.alike:
		return "dm-" + act.Chat.ToUserID
	case note.ID == "":
		return "chat-" + act.Chat.ToUserID
	case note.Visibility == "specified":
		return "dm-" + strings.Join(note.Visible, "+")
	case note.ReplyID != nil:
		return w.where[*note.ReplyID]
	}
	return "timeline:self"
}

// shown is what the bot wrote: what it answers, who may see it when that is not everybody, files and words.
func (w *misskeyWorld) shown(act misskeytest.Act) string {
	note, text, files := act.Note, act.Note.Text, act.Note.Files
	if note.ID == "" {
		text = act.Chat.Text
		if act.Chat.File != nil {
			files = append(files, act.Chat.File)
		}
	}
	var head, body []string
	if note.ReplyID != nil {
		head = append(head, " to "+*note.ReplyID)
	}
	if note.ID != "" && note.Visibility != "public" && note.Visibility != "specified" {
		head = append(head, " ("+note.Visibility+")")
	}
	for _, f := range files {
		body = append(body, "[file "+f.Name+"]")
	}
	if text != nil {
		body = append(body, *text)
	}
	return strings.Join(head, "") + ": " + strings.Join(body, " ")
}
