package discord

import (
	"slices"
	"testing"

	"familiar/internal/platform/discord/discordtest"
	"familiar/internal/platform/platformtest"
)

func TestContract(t *testing.T) {
	platformtest.Run(t, platformtest.Rig{New: func(t *testing.T) platformtest.Network {
		r := world(t, false).open(nil)
		said := map[string]discordtest.Message{}
		return platformtest.Network{
			Platform: r.Discord,
			Deliver: func(_ *testing.T, source, text string) {
				if m, again := said[source]; again {
					r.net.Repeat(r.talk, m.ID)
					return
				}
				said[source] = r.net.Say(r.talk, r.ann, text+" "+r.mention())
			},
			Posted: func(*testing.T) []string {
				return slices.DeleteFunc(r.net.Posted(r.talk), func(text string) bool { return text == "" }) // a file alone
			},
			File:  file(t, "a.txt", "some words"),
			Close: r.net.Close,
		}
	}})
}
