package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"familiar/internal/platform/discord/discordtest"
)

// chatServer is a Discord with one server and one channel.
type chatServer struct {
	*discordtest.Server
	talk *discordtest.Channel

	mu     sync.Mutex
	people map[string]discordtest.User
	direct []*discordtest.Channel
}

func openDiscord(ctx context.Context, address string) (network, error) {
	net, err := discordtest.Open(ctx, address)
	if err != nil {
		return nil, err
	}
	house := net.AddGuild("The Tea House", nil, discordtest.Emoji{Name: "tea", Available: true})
	return &chatServer{Server: net, talk: net.AddChannel(house, "talk", discordtest.Text), people: map[string]discordtest.User{}}, nil
}

func (c *chatServer) Config() (section, channels string) {
	return fmt.Sprintf("  discord:\n    apiUrl: %s\n    token: %s\n    typingIndicator: {enabled: true}\n    channelLurk: {enabled: true, intervalMs: 60000}\n", c.URL(), c.Token()),
		fmt.Sprintf("    - {id: discord/channel/%s, channelLurk: true}\n", c.talk.ID)
}

func (c *chatServer) Say(who, words string, how way) {
	c.mu.Lock()
	u, ok := c.people[who]
	if !ok {
		u = c.AddUser(strings.ToLower(who), who)
		c.people[who] = u
	}
	at := c.talk
	if how == alone {
		at = c.Direct(u)
		known := false
		for _, have := range c.direct {
			known = known || have == at
		}
		if !known {
			c.direct = append(c.direct, at)
		}
	}
	c.mu.Unlock()
	if how == mentioning {
		words = "<@" + c.Bot().ID + "> " + words
	}
	c.Server.Say(at, u, words)
}

func (c *chatServer) Watch(ctx context.Context, tell func(string)) {
	seen := map[string]string{}
	connected, typed, broken := false, 0, 0
	for c.Until(ctx, func() bool {
		var lines []string
		if is := c.Connected() > 0; is != connected {
			connected = is
			lines = append(lines, map[bool]string{true: "the bot is here", false: "the bot is gone"}[is])
		}
		if n := len(c.Tally().Typed); n > typed {
			typed = n
			lines = append(lines, "the bot is typing …")
		}
		for _, p := range c.Problems()[broken:] {
			broken++
			lines = append(lines, "a rule was broken: "+p)
		}
		c.mu.Lock()
		places := append([]*discordtest.Channel{c.talk}, c.direct...)
		c.mu.Unlock()
		for _, at := range places {
			lines = append(lines, c.news(at, seen)...)
		}
		for _, line := range lines {
			tell(line)
		}
		return len(lines) > 0
	}) {
	}
}

// news is what is new in a place.
func (c *chatServer) news(at *discordtest.Channel, seen map[string]string) (lines []string) {
	where := "#" + at.Name
	if at.Type == discordtest.DM {
		where = "alone"
	}
	for _, m := range c.Said(at) {
		for _, r := range m.Reactions {
			if key := m.ID + r.Emoji.Name; seen[key] == "" {
				seen[key] = "put"
				lines = append(lines, fmt.Sprintf("%s: the bot puts %s on «%s»", where, r.Emoji.Name, m.Content))
			}
		}
		if m.Author.ID != c.Bot().ID {
			continue
		}
		now := m.Content
		for _, a := range m.Attachments {
			now += " [" + a.Name + " " + a.URL + "]"
		}
		switch was, known := seen[m.ID]; {
		case !known:
			lines = append(lines, where+": "+now)
		case was != now:
			lines = append(lines, where+", edited: "+now)
		}
		seen[m.ID] = now
	}
	return lines
}
