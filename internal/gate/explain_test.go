package gate

import (
	"strings"
	"testing"

	"familiar/internal/chat"
)

func TestExplain(t *testing.T) {
	limited := list(ReplyChannels, "discord/channel/90000000000000001")
	limited.RateLimit.Enabled = true
	known := list(ReplyChannels, "discord/account/"+ann)
	known.RateLimit.Enabled = true
	ownWeb := direct(with(said("owner"), func(ev *chat.Event) { ev.From.Platform = "web" }))
	for _, c := range []struct {
		name    string
		config  Config
		event   chat.Event
		asked   string // the rules; those that ended the questions with a +
		decided string // "" goes on
		why     string // of the last rule
	}{
		{"another program", list(ReplyAll), with(said(ann), func(e *chat.Event) { e.From.Bot = true }), "source self bot+", "bot", "program"},
		{"not listed", list(ReplyChannels), said(bob), "source self bot addressed owner admitted policy+", "policy", "no entry matches"},
		{"the owner", list(ReplyChannels), ownWeb, "source self bot addressed owner+ source owner+", "", "owner"},
		{"limited", limited, said(bob), "source self bot addressed owner admitted policy+ source owner rate", "",
			"at most 10 requests in 10 min; one more is refused, and all for 10 min"},
		{"not limited", known, said(ann), "source self bot addressed owner admitted policy+ source owner rate+", "", "is not limited"},
		{"without a limit", list(ReplyAll), said(ann), "source self bot addressed owner admitted policy+ source owner rate", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := New(c.config, theOwner, nil)
			for range 30 { // counts nothing
				g.Explain(c.event)
			}
			opinions, v := g.Explain(c.event)
			var asked []string
			for _, o := range opinions {
				word := o.Rule
				if o.Final {
					word += "+"
				}
				asked = append(asked, word)
			}
			if got := strings.Join(asked, " "); got != c.asked {
				t.Errorf("asked %s", got)
			}
			if late := opinions[len(opinions)-1].Late; late != (strings.Count(c.asked, "source") == 2) {
				t.Errorf("the last is late: %v", late)
			}
			if last := opinions[len(opinions)-1].Verdict; !strings.Contains(last.Why, c.why) || c.why == "" && last.Why != "" {
				t.Errorf("the last says %q", last.Why)
			}
			if v.Decided != (c.decided != "") || v.Decided && v.Rule != c.decided {
				t.Errorf("verdict %+v", v)
			}
			// What is explained is what is done.
			if got := g.Early(c.event); got.Decided != v.Decided || v.Decided && got != v {
				t.Errorf("the gate says %+v, the explanation %+v", got, v)
			}
			if got := g.Judge(c.event); !v.Decided && got.Decided {
				t.Errorf("the gate says %+v after the explanations", got)
			}
		})
	}
}
