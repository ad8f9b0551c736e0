package program

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/platform/discord/discordtest"
	"familiar/internal/platform/misskey/misskeytest"
)

// crowd is a network with its people, numbered from 0.
type crowd interface {
	// say lets somebody write to the bot: alone with it, or where others listen.
	say(who int, alone bool, words string) spot
	// again lets the network deliver a message once more.
	again(spot)
	// trouble does the network harm in one of troubles ways. None of them loses anything for good.
	trouble(way int)
	// came is what of the bot's stands in a place.
	came(place string) []answer
	// problems are the rules of the network that the bot broke.
	problems() []string
}

// troubles is how many ways of harm a crowd has.
const troubles = 6

// spot is where a message stands.
type spot struct{ place, message string }

// answer is something of the bot's: words, or a reaction. to is the message that it answers; "" where the network does
// not say.
type answer struct {
	to, text string
	reaction bool
}

// discordCrowd is one server with some channels, and a direct channel of everybody.
type discordCrowd struct {
	*discordtest.Server
	people []discordtest.User
	halls  []*discordtest.Channel
	all    map[string]*discordtest.Channel
}

func newDiscordCrowd(t *testing.T, people int) *discordCrowd {
	t.Helper()
	server, err := discordtest.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	c := &discordCrowd{Server: server, all: map[string]*discordtest.Channel{}}
	guild := server.AddGuild("The community", nil)
	for i := range 8 {
		c.halls = append(c.halls, server.AddChannel(guild, fmt.Sprint("hall-", i), discordtest.Text))
	}
	for i := range people {
		c.people = append(c.people, server.AddUser(fmt.Sprint("d", i), fmt.Sprint("Dee ", i)))
	}
	return c
}

func (c *discordCrowd) section() string {
	return fmt.Sprintf(`"discord": {"apiUrl": %q, "token": %q, "typingIndicator": {"enabled": true}}`, c.URL(), c.Token())
}

func (c *discordCrowd) say(who int, alone bool, words string) spot {
	person := c.people[who]
	at := c.halls[who%len(c.halls)]
	if alone {
		at = c.Direct(person)
	} else {
		words = "<@" + c.Bot().ID + "> " + words
	}
	c.all[at.ID] = at
	return spot{at.ID, c.Say(at, person, words).ID}
}

func (c *discordCrowd) again(s spot) { c.Repeat(c.all[s.place], s.message) }

func (c *discordCrowd) trouble(way int) {
	switch way {
	case 0:
		c.Drop(0)
	case 1:
		c.Drop(4000)
	case 2:
		c.Reconnect()
	case 3:
		c.Invalidate(true)
	case 4:
		c.Fail(discordtest.Answer{Match: "POST /channels/", Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "1"},
			Body: `{"message": "You are being rate limited.", "retry_after": 0.2, "global": false}`})
	case 5: // it was posted, and the answer is lost
		c.Fail(discordtest.Answer{Match: "POST /channels/", Done: true, Abort: true})
	}
}

func (c *discordCrowd) came(place string) (all []answer) {
	for _, m := range c.Said(c.all[place]) {
		for _, r := range m.Reactions {
			if r.Me {
				all = append(all, answer{to: m.ID, text: r.Emoji.Name, reaction: true})
			}
		}
		if m.Author.ID == c.Bot().ID {
			one := answer{text: m.Content}
			if m.Reference != nil {
				one.to = m.Reference.MessageID
			}
			all = append(all, one)
		}
	}
	return all
}

func (c *discordCrowd) problems() []string { return c.Problems() }

// misskeyCrowd is one instance: who is alone with the bot chats or writes direct notes, the others mention it in notes.
type misskeyCrowd struct {
	*misskeytest.Instance
	people []misskeytest.User

	fresh <-chan struct{} // closed when there is more than known
	known map[string][]answer
}

func newMisskeyCrowd(t *testing.T, people int) *misskeyCrowd {
	t.Helper()
	c := &misskeyCrowd{Instance: misskeytest.Start()}
	t.Cleanup(c.Close)
	for i := range people {
		c.people = append(c.people, c.User(fmt.Sprint("m", i), fmt.Sprint("Em ", i), false))
	}
	return c
}

func (c *misskeyCrowd) section() string {
	return fmt.Sprintf(`"misskey": {"host": %q, "token": %q, "secure": false}`, c.Host(), misskeytest.Token)
}

func (c *misskeyCrowd) say(who int, alone bool, words string) spot {
	person := c.people[who]
	switch {
	case alone && who%2 == 0:
		return spot{"chat of " + person.ID, c.Chat(person, words).ID}
	case alone:
		id := c.Write(person, misskeytest.Draft{Text: "@familiar " + words, Visibility: "specified"}).ID
		return spot{id, id}
	}
	id := c.Write(person, misskeytest.Draft{Text: "@familiar " + words}).ID
	return spot{id, id}
}

func (c *misskeyCrowd) again(s spot) {
	if strings.HasPrefix(s.place, "chat of ") {
		c.AgainChat(s.message)
		return
	}
	c.Again(s.message)
}

func (c *misskeyCrowd) trouble(way int) {
	full, busy := misskeytest.Refusal(http.StatusTooManyRequests, "RATE_LIMIT_EXCEEDED"), misskeytest.Misbehaviour{Status: http.StatusServiceUnavailable}
	switch way {
	case 0, 1:
		c.Drop()
	case 2:
		c.Misbehave("notes/create", full)
	case 3:
		c.Misbehave("chat/messages/create-to-user", full)
	case 4:
		c.Misbehave("notes/create", busy)
	case 5:
		c.Misbehave("notes/create", misskeytest.Misbehaviour{Wait: 300 * time.Millisecond})
	}
}

func (c *misskeyCrowd) came(place string) []answer {
	select {
	case <-c.fresh:
	default:
		if c.fresh != nil {
			return c.known[place]
		}
	}
	c.fresh, c.known = c.Changed(), map[string][]answer{}
	us := c.Me().ID
	add := func(place string, a answer) { c.known[place] = append(c.known[place], a) }
	for _, n := range c.Notes() {
		if n.MyReaction != nil {
			add(n.ID, answer{to: n.ID, text: *n.MyReaction, reaction: true})
		}
		if n.UserID == us && n.ReplyID != nil && n.Text != nil {
			add(*n.ReplyID, answer{to: *n.ReplyID, text: *n.Text})
		}
	}
	for _, m := range c.Chats() {
		if m.FromUserID == us && m.Text != nil {
			add("chat of "+m.ToUserID, answer{text: *m.Text})
		}
		if slices.ContainsFunc(m.Reactions, func(r misskeytest.Reaction) bool { return r.User != nil && r.User.ID == us }) {
			add("chat of "+m.FromUserID, answer{to: m.ID, reaction: true})
		}
	}
	return c.known[place]
}

func (c *misskeyCrowd) problems() []string { return c.Faults() }
