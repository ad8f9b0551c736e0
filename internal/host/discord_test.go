package host

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/config"
	"familiar/internal/platform"
	"familiar/internal/platform/discord/discordtest"
	"familiar/internal/secret"
)

// discordTown is a Discord with a channel and a person.
type discordTown struct {
	*discordtest.Server
	talk *discordtest.Channel
	ann  discordtest.User
}

func openDiscord(t *testing.T) discordTown {
	t.Helper()
	net, err := discordtest.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		net.Close()
		if found := net.Problems(); len(found) > 0 {
			t.Errorf("rules of Discord were broken: %q", found)
		}
	})
	return discordTown{net, net.AddChannel(net.AddGuild("The Tea House", nil), "talk", discordtest.Text), net.AddUser("ann", "Ann")}
}

// on switches Discord on.
func (d discordTown) on(c *config.Config) {
	section := &c.Platforms.Discord
	section.Enabled, section.Token, section.APIURL, section.TypingIndicator.Enabled = true, secret.New(d.Token()), d.URL(), true
}

// until waits for something of the network.
func (d discordTown) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if !d.Until(ctx, holds) {
		t.Fatalf("it never came to pass that %s; posted %q", what, d.Posted(d.talk))
	}
}

func sendReply(text string) script.Turn {
	args, err := json.Marshal(map[string]string{"message": text})
	if err != nil {
		panic(err)
	}
	return script.Turn{Steps: []script.Step{{Call: "send-reply", Args: args}}}
}

// From a mention to the reply, which answers it; AF-66: typing is shown meanwhile, and no more when the turn has ended,
// failed or not.
func TestAMentionOnDiscordIsAnswered(t *testing.T) {
	d := openDiscord(t)
	r := live(t, dir(t), d.on, sendReply("hello @everyone"), script.Turn{Steps: []script.Step{{Fail: "gone"}}})
	d.until(t, "the bot is connected", func() bool { return d.Connected() == 1 })
	asked := d.Say(d.talk, d.ann, "<@"+d.Bot().ID+"> hi")
	d.until(t, "it answers", func() bool { return len(d.Posted(d.talk)) == 1 })
	said := d.Said(d.talk)
	if reply := said[len(said)-1]; reply.Content != "hello @everyone" || reply.Everyone || reply.Reference == nil || reply.Reference.MessageID != asked.ID {
		t.Errorf("the reply is %+v", reply)
	}
	if prompt := r.agent.prompt(0); !strings.Contains(prompt, "Discord") {
		t.Error("the agent is not told what Discord takes")
	}
	d.Say(d.talk, d.ann, "<@"+d.Bot().ID+"> and this?")
	d.until(t, "it apologises", func() bool { return len(d.Posted(d.talk)) == 2 })
	r.until("both turns have ended", func() bool { return r.rooms.Load().Running == 0 })
	if n := len(d.Tally().Typed); n == 0 {
		t.Error("typing was never shown")
	}
	if len(r.typist.busy) != 0 {
		t.Error("something still types")
	}
}

// AF-62: one platform cannot connect; the program runs, the other answers, and /health says 503. The log says what to do.
func TestOnePlatformFails(t *testing.T) {
	d := openDiscord(t)
	d.Revoke()
	r := live(t, dir(t), d.on, sendReply("hello"))
	r.until("Discord is given up", func() bool {
		return slices.ContainsFunc(r.links, func(l *platform.Link) bool { return l.State().Status == platform.Failed })
	})
	r.net.hear(t.Context(), event("hall", "ann", "hi"))
	r.says("hall: hello")
	if got := healthOf(t, r); got != http.StatusServiceUnavailable {
		t.Errorf("/health says %d", got)
	}
	if log := r.log.String(); !strings.Contains(log, "Reset Token") || strings.Contains(log, "not-a-secret") {
		t.Errorf("the log says\n%s", log)
	}
	if r.clock == nil || len(r.Ready()) != 0 {
		t.Error("the rest does not run")
	}
}

// AF-65: after the maximum of attempts the log says FATAL, and the program ends with the reason.
func TestTooManyAttemptsEndTheBot(t *testing.T) {
	d := openDiscord(t)
	d.Refuse(true)
	r := live(t, dir(t), func(c *config.Config) { d.on(c); c.Server.MaxReconnects = 1 })
	err := <-r.ended
	close(r.ended)
	if err == nil || !strings.Contains(err.Error(), "discord") || !strings.Contains(err.Error(), "gave up after 1 attempts") {
		t.Errorf("the bot ended with %v", err)
	}
	if log := r.log.String(); !strings.Contains(log, "level=ERROR+4") {
		t.Errorf("the log says\n%s", log)
	}
}

func healthOf(t *testing.T, r *rig) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL()+"/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	alone := &http.Transport{DisableKeepAlives: true}
	res, err := alone.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}
