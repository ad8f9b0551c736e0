package host

import (
	"encoding/json"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/script"
	"familiar/internal/audit"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/gate"
)

// The flag beats every entry, entries decide on sessions of people alone, and without walls nobody may do everything.
func TestWhoMayDoEverythingUnasked(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) {
		c.Access.Channels = []gate.Entry{{ID: "discord/account/90000000000000007", Yolo: true}, {ID: "discord/account/self-research", Yolo: true},
			{ID: "discord/channel/90000000000000009", Yolo: true}}
	})
	at := func(who, place string, body chat.Body) chat.Event {
		return chat.Event{Place: chat.Place{Platform: "discord", ID: place, Kind: chat.Group}, From: chat.Person{Platform: "discord", ID: who}, Body: body}
	}
	people := chat.Said{Text: "hi"}
	for _, c := range []struct {
		ev             chat.Event
		yolo           bool
		source, walled string
	}{
		{at("90000000000000007", "1", people), true, "account_config", ""},
		{at("8", "90000000000000009", people), true, "channel_config", ""},
		{at("8", "1", people), false, "none", ""},
		{at("90000000000000007", "1", chat.Woke{Job: chat.UpkeepSession}), false, "none", ""},
		{at("self-research", "1", chat.Woke{Job: chat.ResearchSession}), false, "none", ""},
		{at("90000000000000007", "1", chat.Woke{Job: chat.ReminderSession}), true, "account_config", ""},
	} {
		r.walled, r.Yolo = true, false
		if yolo, source := r.yolo(c.ev); yolo != c.yolo || source != c.source {
			t.Errorf("%s in %s, %+v: %v, %s", c.ev.From.ID, c.ev.Place.ID, c.ev.Body, yolo, source)
		}
		r.Yolo = true
		if yolo, source := r.yolo(c.ev); !yolo || source != "global_flag" {
			t.Errorf("with the flag: %v, %s", yolo, source)
		}
		r.walled = false
		if yolo, source := r.yolo(c.ev); yolo || source != "global_flag" {
			t.Errorf("without walls: %v, %s", yolo, source)
		}
	}
}

// AF-112: with --yolo a session is asked nothing, and its record says so.
func TestAYoloSessionIsRecorded(t *testing.T) {
	input, _ := json.Marshal(map[string]string{"command": "rm -rf /"}) // a map of strings is always JSON
	ask := script.Step{Ask: &agent.Ask{Call: "c", Title: "run it", Kind: agent.KindExecute, RawInput: input,
		Options: []agent.Option{{ID: "yes", Kind: agent.AllowOnce}, {ID: "no", Kind: agent.RejectOnce}}}}
	r := liveWith(t, dir(t), everyPhase, func(o *Options) { o.Yolo = true }, script.Turn{Steps: append([]script.Step{ask}, reply("done").Steps...)})
	if !r.walled {
		t.Skip("agents cannot be confined here")
	}
	r.hears(event("dm1", "ann", "do it"), chat.Accepted)
	r.says("dm1: done")
	var source, reason string
	for _, l := range r.record().Lines {
		switch e := l.Entry.(type) {
		case audit.YoloResolution:
			source = e.Source
		case audit.PermissionApproved:
			reason = e.Reason
		}
	}
	if source != "global_flag" || reason != "yolo_mode" {
		t.Errorf("source %q, reason %q", source, reason)
	}
}
