package discordtest

import (
	"encoding/json"
	"maps"
	"slices"
)

// The intents that the fake knows.
const (
	intentGuilds         = 1 << 0
	intentExpressions    = 1 << 3
	intentGuildMessages  = 1 << 9
	intentDirectMessages = 1 << 12
	intentContent        = 1 << 15
)

// session is what the gateway knows of a client, over its connections.
type session struct {
	id      string
	intents int
	log     []event
}

// event is one that was dispatched, or is going to be.
type event struct {
	seq  int64
	kind string
	data json.RawMessage
}

// dispatch tells every session that asked for it; an intent of 0 is for all. The lock is held.
func (s *Server) dispatch(kind string, intent int, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		s.note("an event cannot be told: %v", err)
		return
	}
	for _, to := range s.sessions {
		if intent == 0 || to.intents&intent != 0 {
			to.add(kind, s.hidden(to, data, text))
		}
	}
	s.tell()
}

// hidden takes the words out of what a session without the intent for them must not read.
func (s *Server) hidden(to *session, data any, text json.RawMessage) json.RawMessage {
	told, ok := data.(dispatched)
	mentioned := ok && slices.ContainsFunc(told.Mentions, func(u User) bool { return u.ID == s.bot.ID })
	if !ok || to.intents&intentContent != 0 || told.GuildID == "" || mentioned || told.Author.ID == s.bot.ID {
		return text
	}
	bare := *told.Message
	bare.Content, bare.Attachments = "", []Attachment{}
	told.Message = &bare
	text, err := json.Marshal(told)
	if err != nil {
		s.note("an event cannot be told: %v", err)
	}
	return text
}

func (t *session) add(kind string, data json.RawMessage) {
	t.log = append(t.log, event{int64(len(t.log) + 1), kind, data})
}

type (
	toldGuild struct {
		ID          string `json:"id"`
		Unavailable bool   `json:"unavailable"`
	}
	toldChannel struct {
		ID      string `json:"id"`
		Type    int    `json:"type"`
		GuildID string `json:"guild_id"`
		Name    string `json:"name"`
		Nsfw    bool   `json:"nsfw"`
		Parent  string `json:"parent_id,omitempty"`
	}
	toldReady struct {
		V         int         `json:"v"`
		User      User        `json:"user"`
		Guilds    []toldGuild `json:"guilds"`
		SessionID string      `json:"session_id"`
		ResumeURL string      `json:"resume_gateway_url"`
		Shard     [2]int      `json:"shard"`
		App       struct {
			ID    string `json:"id"`
			Flags int    `json:"flags"`
		} `json:"application"`
	}
	toldFullGuild struct {
		ID          string        `json:"id"`
		Name        string        `json:"name"`
		OwnerID     string        `json:"owner_id"`
		Roles       []Role        `json:"roles"`
		Emojis      []Emoji       `json:"emojis"`
		Stickers    []Sticker     `json:"stickers"`
		Channels    []toldChannel `json:"channels"`
		Threads     []toldChannel `json:"threads"`
		Members     []struct{}    `json:"members"`
		Presences   []struct{}    `json:"presences"`
		VoiceStates []struct{}    `json:"voice_states"`
		Stages      []struct{}    `json:"stage_instances"`
		Scheduled   []struct{}    `json:"guild_scheduled_events"`
		Features    []string      `json:"features"`
		MemberCount int           `json:"member_count"`
		Locale      string        `json:"preferred_locale"`
	}
)

func (s *Server) guildCreate(g *Guild) toldFullGuild {
	full := toldFullGuild{ID: g.ID, Name: g.Name, OwnerID: s.bot.ID, Roles: append([]Role{{ID: g.ID, Name: "@everyone", Permissions: "8"}}, g.Roles...),
		Emojis: append([]Emoji{}, g.Emojis...), Stickers: []Sticker{}, Channels: []toldChannel{}, Threads: []toldChannel{},
		Members: []struct{}{}, Presences: []struct{}{}, VoiceStates: []struct{}{}, Stages: []struct{}{}, Scheduled: []struct{}{},
		Features: []string{}, MemberCount: len(s.people), Locale: "en-US"}
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		c := s.channels[id]
		if c.Guild != g.ID || c.gone {
			continue
		}
		told := toldChannel{ID: c.ID, Type: c.Type, GuildID: c.Guild, Name: c.Name}
		if c.Type == Thread {
			full.Threads = append(full.Threads, told)
		} else {
			full.Channels = append(full.Channels, told)
		}
	}
	return full
}

// newSession begins a session with the events that Discord tells first. The lock is held.
func (s *Server) newSession(intents int) *session {
	t := &session{id: "session-" + s.newID(), intents: intents}
	s.sessions[t.id] = t
	hi := toldReady{V: 10, User: s.bot, Guilds: []toldGuild{}, SessionID: t.id, ResumeURL: s.socketURL(), Shard: [2]int{0, 1}}
	hi.App.ID, hi.App.Flags = s.bot.ID, 1<<19
	ids := slices.Sorted(maps.Keys(s.guilds))
	for _, id := range ids {
		hi.Guilds = append(hi.Guilds, toldGuild{id, true})
	}
	tell := func(kind string, data json.RawMessage, err error) {
		if err != nil {
			s.note("an event cannot be told: %v", err)
			return
		}
		t.add(kind, data)
	}
	text, err := json.Marshal(hi)
	tell("READY", text, err)
	if intents&intentGuilds != 0 {
		for _, id := range ids {
			text, err := json.Marshal(s.guildCreate(s.guilds[id]))
			tell("GUILD_CREATE", text, err)
		}
	}
	return t
}
