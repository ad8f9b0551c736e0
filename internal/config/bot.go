package config

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/setting"
)

// Bot is the section bot.
type Bot struct {
	ID       string         `yaml:"id" doc:"name of the instance, which is also that of its folder: small letters, digits and hyphens"`
	Name     string         `yaml:"name" doc:"what the bot is called where people read it"`
	Desk     string         `yaml:"desk" doc:"what kind of work it does: companion"`
	Language string         `yaml:"language" doc:"language of the bot's own sentences: en, zh-TW or zh-CN"`
	Timezone string         `yaml:"timezone" doc:"time zone as in Europe/Berlin; empty takes that of the machine"`
	Owner    map[string]IDs `yaml:"owner" doc:"accounts that own this bot, by platform, as in discord: [\"12345678901234567\"]; whoever holds the token of the page is an owner anyway"`
	Prompts  string         `yaml:"prompts" doc:"folder of prompt files of your own; a file there wins over the one of the same name that we ship"`
}

// IDs is a list of ids; a single one may be written without brackets.
type IDs []string

// UnmarshalText takes a single id.
func (ids *IDs) UnmarshalText(text []byte) error { *ids = IDs{string(text)}; return nil }

func defaultBot() Bot {
	return Bot{ID: "familiar", Name: "Familiar", Desk: "companion", Language: "en", Prompts: "prompts"}
}

var (
	botID     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)
	languages = []string{"en", "zh-TW", "zh-CN"}
)

// longestName bounds the bot's name, in code points: it stands in titles and in every briefing.
const longestName = 100

// Check reports what nothing can start with.
func (b *Bot) Check(r *setting.Report) {
	if !botID.MatchString(b.ID) {
		r.Wrong("id", "%q is not 1 to 64 small letters, digits and hyphens, with no hyphen at either end", b.ID)
	}
	if strings.TrimSpace(b.Name) == "" {
		r.Missing("name")
	}
	if utf8.RuneCountInString(b.Name) > longestName || strings.ContainsFunc(b.Name, unicode.IsControl) {
		r.Wrong("name", "is not one line of at most %d characters", longestName)
	}
	b.checkDesk(r)
	b.checkLanguage(r)
	if _, err := time.LoadLocation(b.Timezone); err != nil || b.Timezone == "Local" {
		r.Wrong("timezone", "%q is no time zone; write one as in Europe/Berlin or UTC", b.Timezone)
	}
	for _, platform := range slices.Sorted(maps.Keys(b.Owner)) {
		b.checkOwner(r.At("owner"), platform)
	}
}

// Zone returns the time zone of a checked bot.
func (b Bot) Zone() *time.Location {
	if b.Timezone == "" {
		return time.Local
	}
	zone, err := time.LoadLocation(b.Timezone)
	if err != nil {
		return time.UTC // Check lets no other name through
	}
	return zone
}

// checkLocal warns of a variable TZ that stands for no zone that we know, such as IST-2: the local time is UTC then.
func (b *Bot) checkLocal(r *setting.Report, tz string) {
	if tz == "" || b.Timezone != "" {
		return
	}
	if name := strings.TrimPrefix(tz, ":"); !strings.HasPrefix(name, "/") {
		if _, err := time.LoadLocation(name); err != nil {
			r.Warn("timezone", "the variable TZ says %q, which is no name of a time zone, so times are in UTC; write a name as in Europe/Berlin", tz)
		}
	}
}

func (b *Bot) checkDesk(r *setting.Report) {
	switch {
	case b.Desk == "companion":
	case slices.Contains(laterDesks, b.Desk):
		r.Wrong("desk", "the desk %s is not in this build", b.Desk)
	default:
		r.Wrong("desk", "%q is no desk; this build has companion", b.Desk)
	}
}

// checkLanguage takes the tags in any case, for they are written in many ways.
func (b *Bot) checkLanguage(r *setting.Report) {
	for _, tag := range languages {
		if strings.EqualFold(tag, b.Language) {
			b.Language = tag
			return
		}
	}
	r.OneOf("language", b.Language, languages...)
}

func (b *Bot) checkOwner(r *setting.Report, platform string) {
	known := append(names(fields(reflect.TypeFor[Platforms]())), laterPlatforms...)
	if !slices.Contains(known, platform) {
		r.Wrong(platform, "is no platform%s", didYouMean(nearest(platform, known)))
	}
	for i, id := range b.Owner[platform] {
		if strings.TrimSpace(id) == "" {
			r.Wrong(fmt.Sprintf("%s[%d]", platform, i), "is blank; give the id of an account, or remove the entry")
		}
	}
}
