package host

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/llm/llmtest"
	"familiar/internal/phrase"
	"familiar/internal/secret"
)

func amendment(of chat.Event, body chat.Body) chat.Event {
	serial++
	ev := of
	ev.ID = chat.NewEventID("us", of.Place, body.Kind(), string(of.Message), fmt.Sprint(serial))
	ev.At, ev.Body = time.Now(), body
	return ev
}

func edit(of chat.Event, text string) chat.Event {
	return amendment(of, chat.Edited{Of: of.Message, Text: text})
}

func recall(of chat.Event) chat.Event { return amendment(of, chat.Recalled{Of: of.Message}) }

// held is a turn that waits for a channel before it answers.
func held(until <-chan struct{}, text string) script.Turn {
	return script.Turn{Steps: []script.Step{{Until: until}, use("send-reply", map[string]string{"message": text})}}
}

func (r *rig) running(n int) {
	r.t.Helper()
	r.until(fmt.Sprint(n, " turns run"), func() bool { return r.rooms.Load().Running == n })
}

// nothingLeft checks that every event is finished.
func (r *rig) nothingLeft() {
	r.t.Helper()
	r.until("nothing is left in the inbox", func() bool {
		left, err := r.inbox.Left(r.t.Context())
		return err == nil && len(left) == 0
	})
}

// BUG-B09: what belongs together is one turn with one answer; all of it is in the briefing, and finished.
func TestAnAlbumIsAnsweredOnce(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) { c.Access.Room.JoinMs = 60_000 }, reply("lovely"))
	for _, name := range []string{"one.png", "two.png", "three.png"} {
		ev := event("dm1", "ann", "")
		ev.Body = chat.Said{Album: "a1", Attachments: []chat.Attachment{{ID: name, Name: name, MIME: "image/png", URL: "http://127.0.0.1:1/" + name}}}
		r.hears(ev, chat.Accepted)
	}
	if said := r.net.said(); len(said) != 0 {
		t.Fatal(said)
	}
	r.hears(event("dm1", "ann", "my holidays"), chat.Accepted)
	r.says("dm1: lovely")
	prompt := r.agent.prompt(0)
	last := -1
	for _, piece := range []string{"one.png", "two.png", "three.png", "my holidays"} {
		at := strings.Index(prompt, piece)
		if at <= last {
			t.Errorf("%s is missing or out of order in:\n%s", piece, prompt)
		}
		last = at
	}
	if r.agent.prompt(1) != "" {
		t.Error("there was a second turn")
	}
	r.nothingLeft()
}

// BUG-B10: an edit of a message that waits is what the agent is told, also after a crash between.
func TestAnEditOfAMessageThatWaits(t *testing.T) {
	hold := make(chan struct{})
	r := live(t, dir(t), nil, held(hold, "hi"))
	r.hears(event("dm1", "ann", "first"), chat.Accepted)
	r.running(1)
	second := event("dm1", "ann", "as-it-was")
	r.hears(second, chat.Accepted)
	change := edit(second, "as-it-is")
	r.hears(change, chat.Accepted)
	r.hears(change, chat.Repeat)
	left, err := r.inbox.Left(t.Context())
	if err != nil || len(left) != 2 || left[1].Event.Text() != "as-it-is" {
		t.Fatal("what a crash would leave:", left, err)
	}
	close(hold)
	r.says("dm1: hi", "dm1: hi")
	if prompt := r.agent.prompt(1); strings.Contains(prompt, "as-it-was") || !strings.Contains(prompt, "as-it-is") {
		t.Error(prompt)
	}
	r.nothingLeft()
}

// BUG-B10: an edit of the message that is being worked on is asked about, once; one of an old message changes history
// and nothing else.
func TestAnEditOfAMessageAtWork(t *testing.T) {
	hold := make(chan struct{})
	r := live(t, dir(t), nil, held(hold, "hi"))
	ev := event("dm1", "ann", "tea?")
	r.hears(ev, chat.Accepted)
	r.running(1)
	r.hears(edit(ev, "coffee?"), chat.Accepted)
	r.hears(edit(ev, "cocoa?"), chat.Accepted)
	if said := r.net.said(); len(said) != 1 || said[0] != "dm1: "+r.phrase(phrase.EditedAtWork) {
		t.Fatal(said)
	}
	close(hold)
	r.says("dm1: "+r.phrase(phrase.EditedAtWork), "dm1: hi")
	r.hears(edit(ev, "water?"), chat.Accepted)
	r.hears(event("dm1", "ann", "well?"), chat.Accepted)
	r.says("dm1: "+r.phrase(phrase.EditedAtWork), "dm1: hi", "dm1: hi")
	if prompt := r.agent.prompt(1); !strings.Contains(prompt, "water?") || strings.Contains(prompt, "tea?") {
		t.Error(prompt)
	}
	r.nothingLeft()
}

// BUG-B10: a message that waits and is taken back is neither answered nor told of.
func TestARecallOfAMessageThatWaits(t *testing.T) {
	hold := make(chan struct{})
	r := live(t, dir(t), nil, held(hold, "hi"))
	r.hears(event("dm1", "ann", "first"), chat.Accepted)
	r.running(1)
	second := event("dm1", "ann", "taken-back")
	r.hears(second, chat.Accepted)
	r.hears(recall(second), chat.Accepted)
	close(hold)
	r.says("dm1: hi")
	r.hears(event("dm1", "ann", "third"), chat.Accepted)
	r.says("dm1: hi", "dm1: hi")
	if prompt := r.agent.prompt(1); strings.Contains(prompt, "taken-back") {
		t.Error(prompt)
	}
	r.nothingLeft()
}

// BUG-B10: the turn of a message that is taken back ends without a word; when it has spoken it is let be.
func TestARecallOfAMessageAtWork(t *testing.T) {
	hold, spoken := make(chan struct{}), make(chan struct{})
	r := live(t, dir(t), nil,
		script.Turn{On: "quiet", Steps: []script.Step{{Until: hold}, use("send-reply", map[string]string{"message": "no"})}},
		script.Turn{On: "spoken", Steps: []script.Step{use("send-reply", map[string]string{"message": "hi"}), {Until: spoken},
			use("react-message", map[string]string{"emoji": "👍"})}})
	ev := event("dm1", "ann", "quiet")
	r.hears(ev, chat.Accepted)
	r.running(1)
	r.hears(recall(ev), chat.Accepted)
	r.running(0)
	r.nothingLeft()
	if said := r.net.said(); len(said) != 0 {
		t.Fatal(said)
	}
	ev = event("dm2", "ben", "spoken")
	r.hears(ev, chat.Accepted)
	r.speaks("dm2: hi")
	r.hears(recall(ev), chat.Accepted)
	close(spoken)
	r.says("dm2: hi")
	r.nothingLeft()
	if !strings.Contains(r.log.String(), chat.ErrRecalled.Error()) {
		t.Error("the log does not say why the turn ended")
	}
}

// speaks waits until exactly this was said, while the turn still runs.
func (r *rig) speaks(want string) {
	r.t.Helper()
	r.until(want+" was said", func() bool { return strings.Join(r.net.said(), "|") == want })
}

// An edit or a recall of what was never for us is nothing, and nothing of it is kept; somebody else's is nothing either.
func TestAmendmentsOfStrangers(t *testing.T) {
	r := live(t, dir(t), nil, reply("hi"))
	talk := event("hall", "ann", "beside us")
	talk.Addressed = false
	r.hears(talk, chat.Ignored)
	r.hears(edit(talk, "still beside"), chat.Ignored)
	r.hears(recall(talk), chat.Ignored)
	ev := event("hall", "ann", "for us")
	r.hears(ev, chat.Accepted)
	r.says("hall: hi")
	other := edit(ev, "not mine")
	other.From.ID, other.Addressed = "mallory", false
	r.hears(other, chat.Ignored)
	if before, err := r.history.Before(t.Context(), ev.Place, "", 10); err != nil || !strings.Contains(texts(before), "for us") {
		t.Fatal(before, err)
	}
	r.nothingLeft()
}

// An edit that comes before its message counts, and so does a recall.
func TestTheEditBeforeTheMessage(t *testing.T) {
	r := live(t, dir(t), nil, reply("hi"))
	late, gone := event("dm1", "ann", "as-it-was"), event("dm1", "ann", "taken-back")
	r.hears(edit(late, "as-it-is"), chat.Accepted)
	r.hears(recall(gone), chat.Accepted)
	r.hears(gone, chat.Accepted)
	r.hears(late, chat.Accepted)
	r.says("dm1: hi")
	if prompt := r.agent.prompt(0); !strings.Contains(prompt, "as-it-is") || strings.Contains(prompt, "as-it-was") || strings.Contains(prompt, "taken-back") {
		t.Error(prompt)
	}
	r.nothingLeft()
}

// With whileBusy: steer the running turn gets what comes meanwhile, and its reply answers it; the next is a turn of
// its own again.
func TestSteer(t *testing.T) {
	hold := make(chan struct{})
	server := llmtest.Start(t, llmtest.Script{APIKey: "sk-of-a-test", Rules: []llmtest.Rule{
		{Match: llmtest.Match{AfterTool: "send-reply"}, Reply: llmtest.Reply{Text: "done"}},
		{Match: llmtest.Match{LastUser: "(?s)Further Message.*and milk"},
			Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: "send-reply", Arguments: `{"message":"both"}`}}}},
		{Match: llmtest.Match{LastUser: "after that"},
			Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: "send-reply", Arguments: `{"message":"next"}`}}}},
		{Match: llmtest.Match{LastUser: "tea"}, Reply: llmtest.Reply{Text: "hm", Hold: hold}},
	}})
	r := live(t, dir(t), func(c *config.Config) {
		c.Agent.Kind, c.Access.Room.WhileBusy = "builtin", "steer"
		c.LLM.Provider, c.LLM.BaseURL, c.LLM.APIKey = "compatible", server.URL(), secret.New("sk-of-a-test")
	})
	r.agent.Agent = r.openBuiltin()
	r.hears(event("dm1", "ann", "tea"), chat.Accepted)
	r.until("the model is asked", func() bool { return len(server.Requests()) > 0 })
	r.hears(event("dm1", "ann", "and milk"), chat.Accepted)
	left, err := r.inbox.Left(t.Context())
	if err != nil || len(left) != 2 || left[0].Turn != left[1].Turn || left[1].Turn == "" {
		t.Fatal("a crash would not treat it like its turn:", left, err)
	}
	close(hold)
	r.says("dm1: both")
	r.nothingLeft()
	r.hears(event("dm1", "ann", "after that"), chat.Accepted)
	r.says("dm1: both", "dm1: next")
	r.nothingLeft()
}
