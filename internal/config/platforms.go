package config

import (
	"reflect"

	"familiar/internal/platform/discord"
	"familiar/internal/platform/misskey"
	"familiar/internal/setting"
	"familiar/internal/spontaneity"
)

// Discord is the section platforms.discord: the network, and when the bot speaks there unasked.
type Discord struct {
	discord.Config  `yaml:",inline"`
	SpontaneousPost spontaneity.Config `yaml:"spontaneousPost" envunder:"DISCORD_"`
	ChannelLurk     spontaneity.Lurk   `yaml:"channelLurk" envunder:"DISCORD_"`
}

// Misskey is the section platforms.misskey: the network, and when the bot speaks there unasked.
type Misskey struct {
	misskey.Config  `yaml:",inline"`
	SpontaneousPost spontaneity.Config `yaml:"spontaneousPost" envunder:"MISSKEY_"`
}

func defaultDiscord() Discord {
	return Discord{Config: discord.Defaults(), SpontaneousPost: spontaneity.Defaults(), ChannelLurk: spontaneity.DefaultLurk()}
}

func defaultMisskey() Misskey {
	return Misskey{Config: misskey.Defaults(), SpontaneousPost: spontaneity.Defaults()}
}

// Check asks the parts of the section.
func (d *Discord) Check(r *setting.Report) {
	d.Config.Check(r)
	d.SpontaneousPost.Check(r.At("spontaneousPost"))
	d.ChannelLurk.Check(r.At("channelLurk"))
}

// Check asks the parts of the section.
func (m *Misskey) Check(r *setting.Report) {
	m.Config.Check(r)
	m.SpontaneousPost.Check(r.At("spontaneousPost"))
}

// On names the platforms that are on, in the order of the reference.
func (p *Platforms) On() []string {
	var on []string
	p.each(func(name string, enabled reflect.Value) {
		if enabled.Bool() {
			on = append(on, name)
		}
	})
	return on
}

// each calls do with the switch of every platform.
func (p *Platforms) each(do func(name string, enabled reflect.Value)) {
	all := reflect.ValueOf(p).Elem()
	for _, f := range fields(all.Type()) {
		section := all.FieldByIndex(f.index)
		if known := fields(f.typ); find(known, enabledKey) >= 0 {
			do(f.name, section.FieldByIndex(known[find(known, enabledKey)].index))
		}
	}
}

// enabledKey is the switch that every platform has.
const enabledKey = "enabled"

// switchPlatforms makes presence in a file mean on: once the files list platforms, those that they leave out are off,
// and those that they list are on unless their switch says otherwise. A switch whose variable is not set is off. A
// variable alone, such as a token, makes nothing present.
func switchPlatforms(root *node, c *Config) {
	platforms := root.find("platforms")
	if platforms == nil || platforms.value.kind != mapping {
		return
	}
	c.Platforms.each(func(name string, enabled reflect.Value) {
		section := platforms.value.find(name)
		enabled.SetBool(section != nil)
		if section == nil {
			return
		}
		if is := section.value.find(enabledKey); is != nil && is.value.unset != "" {
			enabled.SetBool(false)
		}
	})
}
