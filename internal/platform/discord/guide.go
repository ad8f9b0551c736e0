package discord

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/disgoorg/disgo/rest"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// take keeps what events tell of servers.
func (k *known) take(f frame) error {
	switch f.Type {
	case "GUILD_CREATE":
		var g guild
		if err := json.Unmarshal(f.Data, &g); err != nil {
			return err
		}
		k.learn(func() { k.guilds[g.ID] = g })
	case "GUILD_DELETE":
		var g guild
		if err := json.Unmarshal(f.Data, &g); err != nil {
			return err
		}
		k.learn(func() { delete(k.guilds, g.ID) })
	case "GUILD_EMOJIS_UPDATE":
		var told struct {
			Guild  string  `json:"guild_id"`
			Emojis []emoji `json:"emojis"`
		}
		if err := json.Unmarshal(f.Data, &told); err != nil {
			return err
		}
		k.learn(func() {
			g := k.guilds[told.Guild]
			g.ID, g.Emojis = told.Guild, told.Emojis
			k.guilds[told.Guild] = g
		})
	}
	return nil
}

// emojisKept is how long the emojis of our own application are taken to be the same.
const emojisKept = 5 * time.Minute

// ownEmojis are those of our own application.
type ownEmojis struct {
	at   time.Time
	list []emoji
}

// Emojis returns the custom emojis of the place's own server, then those of the others that we are in, then our own.
func (d *Discord) Emojis(ctx context.Context, place chat.Place) ([]chat.Emoji, error) {
	own, err := d.own(ctx)
	var all []emoji
	d.known.learn(func() {
		if g, ok := d.known.guilds[place.Guild]; ok {
			all = g.usable()
		}
		for _, id := range slices.Sorted(maps.Keys(d.known.guilds)) {
			if id != place.Guild {
				all = append(all, d.known.guilds[id].usable()...)
			}
		}
	})
	seen := map[string]bool{}
	var out []chat.Emoji
	for _, e := range append(all, own...) {
		if seen[e.ID] || e.ID == "" || e.Name == "" {
			continue
		}
		seen[e.ID] = true
		out = append(out, e.asWritten())
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, err
}

// own asks for the emojis of our own application, once in a while.
func (d *Discord) own(ctx context.Context) (list []emoji, err error) {
	fresh, us := false, ""
	d.known.learn(func() {
		us, list, fresh = d.known.us, d.known.own.list, time.Since(d.known.own.at) < emojisKept
	})
	if fresh || us == "" {
		return list, nil
	}
	found, err := get[emojiList](ctx, d, at(rest.GetApplicationEmojis, nil, us))
	if err != nil {
		return list, err
	}
	d.known.learn(func() { d.known.own = ownEmojis{time.Now(), found.Items} })
	return found.Items, nil
}

func (e emoji) asWritten() chat.Emoji {
	form := "<:" + e.Name + ":" + e.ID + ">"
	if e.Animated {
		form = "<a:" + e.Name + ":" + e.ID + ">"
	}
	return chat.Emoji{Text: form, Reaction: e.Name + ":" + e.ID}
}

// usable leaves out what a bot cannot use: what is reserved for those who pay or for an integration, or not there now.
func (g guild) usable() (list []emoji) {
	reserved := map[string]bool{}
	for _, r := range g.Roles {
		_, premium := r.Tags["premium_subscriber"]
		reserved[r.ID] = r.Managed || premium
	}
	for _, e := range g.Emojis {
		open := len(e.Roles) == 0 || slices.ContainsFunc(e.Roles, func(id string) bool { return !reserved[id] })
		if open && !e.Managed && (e.Available == nil || *e.Available) {
			list = append(list, e)
		}
	}
	return list
}

// emojiID finds an emoji by its name; "" when there is none.
func (d *Discord) emojiID(name string) (id string) {
	d.known.learn(func() {
		all := slices.Clone(d.known.own.list)
		for _, g := range d.known.guilds {
			all = append(all, g.usable()...)
		}
		if i := slices.IndexFunc(all, func(e emoji) bool { return e.Name == name }); i >= 0 {
			id = all[i].ID
		}
	})
	return id
}

// mostDirect is how many direct channels are remembered.
const mostDirect = 10_000

// Direct returns the channel in which a person is spoken to alone, and opens it when there is none.
func (d *Discord) Direct(ctx context.Context, who chat.Person) (chat.Place, error) {
	if !isID(who.ID) {
		return chat.Place{}, platform.ErrUnreachable
	}
	var id string
	d.known.learn(func() { id = d.known.direct[who.ID] })
	if id != "" {
		return place(id, ""), nil
	}
	made, err := call[createDirect, created](ctx, d, at(rest.CreateDMChannel, nil), &createDirect{who.ID})
	var no refusal
	if errors.As(err, &no) && slices.Contains([]int{codeUnknownUser, codeCannotMessage, codeBadRecipient, codeNoMutual}, no.code) {
		return chat.Place{}, errors.Join(platform.ErrUnreachable, err)
	}
	if err != nil {
		return chat.Place{}, err
	}
	d.known.learn(func() {
		if len(d.known.direct) >= mostDirect {
			clear(d.known.direct)
		}
		d.known.direct[who.ID] = made.ID
	})
	return place(made.ID, ""), nil
}

// clean removes slash commands that somebody registered for this account: nobody would answer them. It concerns nothing
// else when that fails.
func (d *Discord) clean(ctx context.Context, r ready) {
	if r.Application.ID == "" {
		return
	}
	none := []nothing{}
	remove := func(key string, e *rest.CompiledEndpoint) {
		var done bool
		d.known.learn(func() { done = d.known.cleaned[key] })
		if done || ctx.Err() != nil {
			return
		}
		if _, err := call[[]nothing, nothing](ctx, d, e, &none); err != nil {
			d.log.Warn("leftover slash commands were not removed", chat.KeyErr, err)
			return
		}
		d.known.learn(func() { d.known.cleaned[key] = true })
	}
	remove("", at(rest.SetGlobalCommands, nil, r.Application.ID))
	for _, g := range r.Guilds {
		remove(g.ID, at(rest.SetGuildCommands, nil, r.Application.ID, g.ID))
	}
}
