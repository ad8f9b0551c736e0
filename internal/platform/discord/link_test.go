package discord

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/platform"
)

// again runs the platform once more and waits until it is connected.
func (r *rig) again(t *testing.T) {
	t.Helper()
	was := 0
	r.note(func() { was = r.ups })
	r.run(t)
	r.until(t, "it is connected again", func() bool { return r.ups > was })
}

// What ends a connection, and how the next one begins: BUG-C18 with session and place where Discord takes it up again,
// anew where it does not. Nothing that was said meanwhile is lost where the session lives on.
func TestConnectionsThatEnd(t *testing.T) {
	cases := []struct {
		name    string
		end     func(r *rig)
		resumes bool
	}{
		{"BUG-C18 asked to connect anew", func(r *rig) { r.net.Reconnect() }, true},
		{"cut without a word", func(r *rig) { r.net.Drop(0) }, true},
		{"4000 unknown error", func(r *rig) { r.net.Drop(4000) }, true},
		{"4008 rate limited", func(r *rig) { r.net.Drop(4008) }, true},
		{"1001 going away", func(r *rig) { r.net.Drop(1001) }, true},
		{"invalid session that lives on", func(r *rig) { r.net.Invalidate(true) }, true},
		{"4009 session timed out", func(r *rig) { r.net.Drop(4009) }, false},
		{"4007 invalid place", func(r *rig) { r.net.Drop(4007) }, false},
		{"invalid session", func(r *rig) { r.net.Invalidate(false) }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := connect(t, nil)
			r.net.Say(r.talk, r.ann, r.mention()+" before")
			r.heard(t, "before")
			c.end(r)
			err := r.left(t)
			var fatal platform.Fatal
			if err == nil || errors.As(err, &fatal) {
				t.Fatalf("Run returned %v", err)
			}
			r.net.Say(r.talk, r.ann, r.mention()+" meanwhile")
			r.again(t)
			r.net.Say(r.talk, r.ann, r.mention()+" after")
			r.heard(t, "after")
			if c.resumes {
				r.heard(t, "meanwhile")
			}
			tally, n := r.net.Tally(), 0
			r.note(func() {
				for _, ev := range r.events {
					if ev.Text() == "before" {
						n++
					}
				}
			})
			want := map[bool][2]int{true: {1, 1}, false: {2, 0}}[c.resumes]
			if got := [2]int{tally.Identified, tally.Resumed}; got != want || n != 1 {
				t.Errorf("identified and resumed %v, want %v; the first message came %d times", got, want, n)
			}
		})
	}
}

// Where trying again changes nothing, it is said what to do.
func TestHopelessEnds(t *testing.T) {
	cases := []struct {
		name string
		end  func(r *rig)
		says []string
	}{
		{"4004 a token that was revoked", func(r *rig) { r.net.Drop(4004) }, []string{"token", "Reset Token", "DISCORD_TOKEN"}},
		{"4014 an intent that is off", func(r *rig) { r.net.Drop(4014) }, []string{"Message Content Intent"}},
		{"4011 shards", func(r *rig) { r.net.Drop(4011) }, []string{"too many servers"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := connect(t, nil)
			c.end(r)
			wantFatal(t, r.left(t), c.says)
		})
	}
	t.Run("a token that never was one", func(t *testing.T) {
		r := world(t, false).open(func(c *Config) { c.Token = secretToken })
		r.run(t)
		wantFatal(t, r.left(t), []string{"Reset Token"})
	})
	t.Run("an intent that never was on", func(t *testing.T) {
		r := world(t, false).open(nil)
		r.net.ForbidContent()
		r.run(t)
		wantFatal(t, r.left(t), []string{"Message Content Intent"})
	})
}

func wantFatal(t *testing.T, err error, says []string) {
	t.Helper()
	var fatal platform.Fatal
	if !errors.As(err, &fatal) {
		t.Fatalf("Run returned %v, want what no further attempt mends", err)
	}
	for _, word := range says {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if strings.Contains(err.Error(), "not-a-secret") {
		t.Error("the token is shown")
	}
}

// BUG-C04: a connection that only seems to be one is noticed by its heartbeats.
func TestHeartbeats(t *testing.T) {
	r := world(t, false).open(nil)
	r.net.Beat(50 * time.Millisecond)
	r.run(t)
	r.until(t, "some beats are answered", func() bool { return r.net.Tally().Heartbeats >= 3 })
	r.net.AskBeat()
	r.net.Deaf(true)
	if err := r.left(t); err == nil || !strings.Contains(err.Error(), "heartbeats") {
		t.Fatalf("Run returned %v", err)
	}
	r.net.Deaf(false)
	r.again(t)
	if tally := r.net.Tally(); tally.Resumed != 1 {
		t.Errorf("resumed %d times", tally.Resumed)
	}
}

// BUG-K10, the part of this platform: what cannot be reached is an error to come back from, and the session lives on.
func TestANetworkThatIsAway(t *testing.T) {
	r := connect(t, nil)
	r.net.Refuse(true)
	r.net.Drop(0)
	if r.left(t) == nil {
		t.Fatal("a lost connection is no error")
	}
	for range 3 {
		r.run(t)
		if r.left(t) == nil {
			t.Fatal("a refused connection is no error")
		}
	}
	r.net.Say(r.talk, r.ann, r.mention()+" are you there?")
	r.net.Refuse(false)
	r.again(t)
	r.heard(t, "are you there?")
}

// A session that is neither taken up nor given up by Discord is given up by us, and what was said meanwhile is heard.
func TestASessionThatIsStuck(t *testing.T) {
	r := connect(t, nil)
	r.net.Say(r.talk, r.ann, r.mention()+" before")
	r.heard(t, "before")
	r.net.Stick()
	r.net.Drop(0)
	if r.left(t) == nil {
		t.Fatal("a lost connection is no error")
	}
	for range mostTries {
		r.run(t)
		if r.left(t) == nil {
			t.Fatal("a session that is not taken up is no error")
		}
	}
	r.net.Say(r.talk, r.ann, r.mention()+" meanwhile")
	r.again(t)
	r.heard(t, "meanwhile")
	if tally := r.net.Tally(); tally.Identified != 2 || tally.Resumed != 0 {
		t.Errorf("%+v", tally)
	}
}

// Who leaves in order says good-bye, and begins anew.
func TestGoodBye(t *testing.T) {
	r := connect(t, nil)
	r.stop(t)
	if !r.net.Until(limited(t), func() bool { return r.net.Connected() == 0 }) {
		t.Fatal("it stays connected")
	}
	r.again(t)
	if tally := r.net.Tally(); tally.Identified != 2 || tally.Resumed != 0 {
		t.Errorf("%+v", tally)
	}
}

// Nobody would answer a slash command that an earlier bot of this account had registered.
func TestLeftoverCommandsAreRemoved(t *testing.T) {
	r := connect(t, nil)
	want := []string{"/applications/" + r.net.Bot().ID + "/commands", "/applications/" + r.net.Bot().ID + "/guilds/" + r.guild.ID + "/commands"}
	r.until(t, "both lists are known to be empty", func() (done bool) {
		r.known.learn(func() { done = len(r.known.cleaned) == 2 })
		return done
	})
	if got := r.net.Tally().Commands; !slices.Equal(got, want) {
		t.Errorf("removed %q, want %q", got, want)
	}
	r.net.Drop(4009) // a new session removes nothing twice
	_ = r.left(t)
	r.again(t)
	r.net.Say(r.talk, r.ann, r.mention()+" end")
	r.heard(t, "end")
	if n := len(r.net.Tally().Commands); n != 2 {
		t.Errorf("%d lists were emptied", n)
	}
}

// limited is a context that ends what hangs.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	t.Cleanup(cancel)
	return ctx
}
