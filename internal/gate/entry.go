package gate

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"familiar/internal/chat"
)

// Entry is one line of access.channels, as it is written: a string is the id alone. Ids match ids, never names.
type Entry struct {
	ID              string       `yaml:"id" doc:"platform/account/ID, platform/channel/ID, misskey/timeline/self, or * for everybody"`
	Disabled        LiteralFalse `yaml:"enabled" doc:"only a literal false turns the entry off"`
	RateLimitBypass LiteralTrue  `yaml:"rateLimitBypass" doc:"no rate limit for whom the entry matches; account entries have none anyway"`
	Yolo            LiteralTrue  `yaml:"yolo" doc:"the agent asks no permission in sessions that the entry matches"`
	SpontaneousPost LiteralTrue  `yaml:"spontaneousPost" doc:"the bot may post there unasked, where its platform has spontaneousPost on"`
	ChannelLurk     LiteralTrue  `yaml:"channelLurk" doc:"the bot reads along there and may join in, where its platform has channelLurk on"`
}

// UnmarshalText takes an entry that is written as its id alone.
func (e *Entry) UnmarshalText(text []byte) error {
	*e = Entry{ID: string(text)}
	return nil
}

// LiteralTrue is set by a literal true and by nothing else: "yes", 1 and "true" in quotes leave it unset.
type LiteralTrue bool

// UnmarshalJSON never fails: any other value means false.
func (v *LiteralTrue) UnmarshalJSON(data []byte) error { *v = string(data) == "true"; return nil }

// LiteralFalse is set by a literal false and by nothing else.
type LiteralFalse bool

// UnmarshalJSON never fails: any other value leaves it unset.
func (v *LiteralFalse) UnmarshalJSON(data []byte) error { *v = string(data) == "false"; return nil }

// MarshalJSON writes the word that was read, false where v is set.
func (v LiteralFalse) MarshalJSON() ([]byte, error) {
	if v {
		return []byte("false"), nil
	}
	return []byte("true"), nil
}

// target is what an entry is about.
type target string

const (
	account   target = "account"
	channel   target = "channel"
	timeline  target = "timeline"
	everybody target = "*"
)

// entry is an Entry whose id was understood.
type entry struct {
	id       string // as it was written
	platform string
	kind     target
	of       string // the platform's own id
	bypass   bool
	yolo     bool
	posts    bool // we may post there unasked
	lurks    bool // we read along there
}

// grammar says which ids a platform has, for accounts and for channels. A Misskey channel carries the prefix that
// tells notes, direct notes and chats apart.
var grammar = map[string]map[target]func() *regexp.Regexp{
	"discord": {account: snowflake, channel: snowflake},
	"misskey": {account: word, channel: form(`^(?:note:|dm:|chat:)?[A-Za-z0-9_\-@.]{1,256}$`), timeline: form(`^self$`)},
	"web":     {account: word, channel: form(`^[A-Za-z0-9_\-@.:]{1,256}$`)},
	"webhook": {account: anything, channel: anything},
}

var (
	snowflake = form(`^[0-9]{17,20}$`)
	word      = form(`^[A-Za-z0-9_\-@.]{1,256}$`)
	anything  = form(`^[^\s\p{C}](?:[^\t-\r\p{C}]{0,254}[^\s\p{C}])?$`) // the ids of a program are its own
)

// form compiles a pattern when it is first needed: a count such as {1,256} makes it large, and most bots list no
// entry of most platforms.
func form(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// errBlank is an entry without an id: somebody's template left a hole, and a hole must not mean everybody.
var errBlank = errors.New("is blank; give an id such as discord/account/12345678901234567, or remove the entry")

func parseEntry(raw Entry) (entry, error) {
	e := entry{id: raw.ID, bypass: bool(raw.RateLimitBypass), yolo: bool(raw.Yolo),
		posts: bool(raw.SpontaneousPost), lurks: bool(raw.ChannelLurk)}
	if strings.TrimSpace(raw.ID) == "" {
		return entry{}, errBlank
	}
	if raw.ID == string(everybody) {
		e.kind = everybody
		return e, nil
	}
	platform, rest, _ := strings.Cut(raw.ID, "/")
	kind, of, _ := strings.Cut(rest, "/")
	kinds, ok := grammar[platform]
	if !ok {
		return entry{}, fmt.Errorf("%q names no platform that entries are known for (discord, misskey, web, webhook)", raw.ID)
	}
	compiled, ok := kinds[target(kind)]
	if !ok {
		return entry{}, fmt.Errorf("%q: after %s/ comes account/ or channel/", raw.ID, platform)
	}
	pattern := compiled()
	if !pattern.MatchString(of) {
		return entry{}, fmt.Errorf("%q: %q is not an id of %s (ids match %s)", raw.ID, of, platform, pattern)
	}
	e.platform, e.kind, e.of = platform, target(kind), of
	return e, nil
}

// matches compares ids; a name that looks like an id is not one.
func (e entry) matches(ev chat.Event) bool {
	switch e.kind {
	case everybody:
		return true
	case account:
		return e.platform == ev.From.Platform && e.of == ev.From.ID
	case channel:
		return e.platform == ev.Place.Platform && e.of == ev.Place.ID
	case timeline:
		return e.platform == ev.Place.Platform && ev.Place.ID == "timeline:"+e.of
	}
	return false
}
