package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/secret"
	"familiar/internal/sqlite"
	"familiar/internal/tool"
)

// network is a platform in memory that does as it is told and remembers what reached it.
type network struct {
	platform.Source
	able chat.Abilities

	mu     sync.Mutex
	refuse []error // the answers to the next actions; nil takes the action
	got    []chat.Action
	keys   map[string]chat.MessageID
}

func (n *network) Abilities() chat.Abilities { return n.able }

func (n *network) Do(_ context.Context, a chat.Action) (chat.Receipt, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.refuse) > 0 {
		err := n.refuse[0]
		n.refuse = n.refuse[1:]
		if err != nil {
			return chat.Receipt{}, err
		}
	}
	if say, ok := a.(chat.Say); ok && n.able.Idempotent {
		if id, ok := n.keys[say.Key]; ok {
			return chat.Receipt{Message: id, At: time.UnixMilli(5)}, nil
		}
		n.keys[say.Key] = chat.MessageID(fmt.Sprint("m", len(n.got)))
	}
	n.got = append(n.got, a)
	return chat.Receipt{Message: chat.MessageID(fmt.Sprint("m", len(n.got)-1)), At: time.UnixMilli(5)}, nil
}

// said returns the texts of what reached the network, in order.
func (n *network) said() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for _, a := range n.got {
		_, text := describe(a)
		all = append(all, text)
	}
	return strings.Join(all, "|")
}

// remembering is a network that tells its history.
type remembering struct {
	*network
	past []chat.Message
}

func (r remembering) Before(context.Context, chat.Place, chat.MessageID, int) ([]chat.Message, error) {
	return r.past, nil
}

func (r remembering) Search(context.Context, chat.Place, string, int) ([]chat.Message, error) {
	return nil, platform.ErrUnsupported
}

// answered reports whether a turn let the person see anything.
func (r *rig) answered(t chat.Turn) bool {
	return r.Deeds(t).Any()
}

type rig struct {
	*Outbox
	net   *network
	deps  Deps
	noted []string
	seen  atomic.Int32
}

var place = chat.Place{Platform: "net", ID: "here", Kind: chat.Direct}

func open(t *testing.T, net *network, p platform.Platform) *rig {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	net.keys = map[string]chat.MessageID{}
	r := &rig{net: net}
	vault := &secret.Vault{}
	vault.Know(secret.New("hunter2hunter2"))
	r.deps = Deps{DB: db, Platforms: map[string]platform.Platform{"net": p}, Vault: vault, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Noting: func(_ chat.Place, m chat.Message) func(*sql.Tx) error {
			return func(*sql.Tx) error { r.noted = append(r.noted, m.Text); return nil }
		},
		Seen: func(chat.Turn, chat.Action, chat.Receipt, error) { r.seen.Add(1) }}
	r.reopen(t)
	return r
}

// reopen is what the next process does.
func (r *rig) reopen(t *testing.T) {
	t.Helper()
	var err error
	if r.Outbox, err = Open(t.Context(), Defaults(), r.deps); err != nil {
		t.Fatal(err)
	}
}

func simple(t *testing.T, able chat.Abilities) *rig {
	net := &network{able: able}
	return open(t, net, net)
}

func turn() chat.Turn {
	ev := chat.Event{ID: "e1", Place: place, From: chat.Person{Platform: "net", ID: "ann"}, Message: "q1", Body: chat.Said{Text: "?"}}
	return chat.NewTurn(chat.Talk, ev, chat.Owner, time.Now())
}

// call runs a tool and returns its answer, or the status and words of its refusal.
func (r *rig) call(t *testing.T, turn chat.Turn, name, args string) (int, string) {
	t.Helper()
	res, err := tool.NewBox(nil, r.Tools()...).Call(t.Context(), turn, name, json.RawMessage(args))
	var fault tool.Fault
	if errors.As(err, &fault) {
		return fault.Status, fault.Say
	}
	if err != nil {
		t.Fatal(err)
	}
	return 200, string(res.Data)
}

func TestOneReplyForATurn(t *testing.T) {
	r := simple(t, chat.Abilities{})
	now := turn()
	// AF-125: a blank reply is refused and takes no slot.
	if status, _ := r.call(t, now, "send-reply", `{"message":"   "}`); status != 400 {
		t.Fatal(status)
	}
	if status, answer := r.call(t, now, "send-reply", `{"message":"one"}`); status != 200 || !strings.Contains(answer, `"messageId":"m0"`) {
		t.Fatal(status, answer)
	}
	// AF-121: the second one, with another text, is refused and does not reach the network.
	if status, _ := r.call(t, now, "send-reply", `{"message":"two"}`); status != 429 {
		t.Fatal(status)
	}
	if r.net.said() != "one" || r.seen.Load() != 2 || len(r.noted) != 1 || !r.answered(now) || r.Reply(now.ID) != "m0" {
		t.Fatal(r.net.said(), r.seen.Load(), r.noted)
	}
	say := r.net.got[0].(chat.Say)
	if say.ReplyTo != "q1" || say.Turn != now.ID || say.Key == "" {
		t.Fatalf("%+v", say)
	}
}

// AF-122: of two replies at the same time exactly one is sent.
func TestTwoRepliesAtOnce(t *testing.T) {
	r := simple(t, chat.Abilities{})
	now := turn()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { r.call(t, now, "send-reply", fmt.Sprintf(`{"message":"text %d"}`, i)) })
	}
	wg.Wait()
	if len(r.net.got) != 1 {
		t.Fatalf("%d were sent", len(r.net.got))
	}
}

func TestARefusedReplyGivesItsSlotBack(t *testing.T) {
	r := simple(t, chat.Abilities{})
	r.net.refuse = []error{errors.New("too rude")}
	now := turn()
	status, say := r.call(t, now, "send-reply", `{"message":"one"}`)
	if status != 400 || strings.Contains(say, "rude") || r.answered(now) {
		t.Fatal(status, say)
	}
	// AF-124: the agent may try again.
	if status, _ = r.call(t, now, "send-reply", `{"message":"two"}`); status != 200 || r.net.said() != "two" {
		t.Fatal(status, r.net.said())
	}
}

func TestAnUncertainReplyIsNotSentAgain(t *testing.T) {
	r := simple(t, chat.Abilities{})
	r.net.refuse = []error{platform.Uncertain{Err: errors.New("timed out")}}
	now := turn()
	if status, say := r.call(t, now, "send-reply", `{"message":"one"}`); status != 400 || !strings.Contains(say, "nobody can tell") {
		t.Fatal(status, say)
	}
	if status, _ := r.call(t, now, "send-reply", `{"message":"one more"}`); status != 429 || r.net.said() != "" {
		t.Fatal(status, r.net.said())
	}
	if replied, err := r.Replied(t.Context(), "e1"); err != nil || !replied {
		t.Fatal("what may have gone out counts as an answer", err)
	}
}

// stalled is a network that never answers.
type stalled struct{ *network }

func (stalled) Do(ctx context.Context, _ chat.Action) (chat.Receipt, error) {
	<-ctx.Done()
	return chat.Receipt{}, ctx.Err()
}

// Of what a network did not answer to in time nobody can tell whether it arrived, and that is written down.
func TestAReplyWithoutAnAnswerInTimeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &network{}
		r := open(t, net, stalled{net})
		if _, err := r.Do(t.Context(), turn(), chat.Say{Place: place, Text: "hello"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if n, err := r.Unknown(t.Context()); err != nil || n != 1 {
			t.Errorf("%d are unknown, %v", n, err)
		}
		if replied, err := r.Replied(t.Context(), "e1"); err != nil || !replied {
			t.Errorf("what may have gone out counts as no answer, %v", err)
		}
	})
}

func TestATemporaryRefusalIsTriedAgain(t *testing.T) {
	r := simple(t, chat.Abilities{})
	r.net.refuse = []error{platform.Temporary{Err: errors.New("429")}}
	if _, err := r.Do(t.Context(), turn(), chat.Say{Place: place, Text: "hello"}); err != nil || r.net.said() != "hello" {
		t.Fatal(err, r.net.said())
	}
	r.net.refuse = []error{platform.Temporary{Err: errors.New("429"), After: time.Hour}}
	if _, err := r.Do(t.Context(), turn(), chat.Say{Place: place, Text: "again"}); err == nil || r.net.said() != "hello" {
		t.Fatal("nobody waits an hour", err)
	}
}

func TestALongReplyIsOneReplyInParts(t *testing.T) {
	r := simple(t, chat.Abilities{MaxText: 10, Edit: true})
	now := turn()
	status, answer := r.call(t, now, "send-reply", `{"message":"one two three four"}`)
	if status != 200 || r.net.said() != "one two|three four" || !strings.Contains(answer, `"m1"`) {
		t.Fatal(status, r.net.said(), answer)
	}
	if second := r.net.got[1].(chat.Say); second.ReplyTo != "" || second.Key == r.net.got[0].(chat.Say).Key {
		t.Fatalf("%+v", second)
	}
	if status, say := r.call(t, now, "edit-reply", `{"messageId":"m1","message":"x"}`); status != 400 || !strings.Contains(say, "2 messages") {
		t.Fatal(status, say)
	}
}

func TestAPartlySentReplyIsNotSentAgain(t *testing.T) {
	r := simple(t, chat.Abilities{MaxText: 10})
	r.net.refuse = []error{nil, errors.New("gone")}
	now := turn()
	if status, say := r.call(t, now, "send-reply", `{"message":"one two three four"}`); status != 400 || !strings.Contains(say, "first part") {
		t.Fatal(status, say)
	}
	if status, _ := r.call(t, now, "send-reply", `{"message":"all of it"}`); status != 429 {
		t.Fatal(status)
	}
}

func TestEdits(t *testing.T) {
	r := simple(t, chat.Abilities{Edit: true, MaxText: 20})
	now := turn()
	refused := func(args, why string) {
		t.Helper()
		if status, say := r.call(t, now, "edit-reply", args); status != 400 || !strings.Contains(say, why) {
			t.Fatal(status, say)
		}
	}
	// AF-127: before any reply, for another message, with the same text: nothing changes on the network.
	refused(`{"messageId":"m0","message":"x"}`, "no reply")
	r.call(t, now, "send-reply", `{"message":"one"}`)
	refused(`{"messageId":"q1","message":"x"}`, "not your reply")
	refused(`{"messageId":"m0","message":"one"}`, "already")
	refused(`{"messageId":"m0","message":"`+strings.Repeat("long ", 9)+`"}`, "too long")
	if r.net.said() != "one" {
		t.Fatal(r.net.said())
	}
	for i, want := range []int{200, 200, 429} {
		args := fmt.Sprintf(`{"messageId":"%s","message":"text %d"}`, r.Reply(now.ID), i)
		if status, say := r.call(t, now, "edit-reply", args); status != want {
			t.Fatal(i, status, say)
		}
	}
	if edit := r.net.got[1].(chat.Edit); edit.Message != "m0" || edit.ReplyTo != "q1" {
		t.Fatalf("%+v", edit)
	}
	// The network gave the edited message a new id: the next edit must know that one.
	if edit := r.net.got[2].(chat.Edit); edit.Message != "m1" {
		t.Fatalf("%+v", edit)
	}
}

func TestReactions(t *testing.T) {
	r := simple(t, chat.Abilities{React: true})
	now := turn()
	// A reaction is no second way to say something, nor one to let a secret out.
	for _, emoji := range []string{" ", "two words", "a\\nb", strings.Repeat("x", 101), "hunter2hunter2"} {
		if status, _ := r.call(t, now, "react-message", `{"emoji":"`+emoji+`"}`); status != 400 || len(r.net.got) != 0 {
			t.Fatal(emoji, status)
		}
	}
	for _, emoji := range []string{"👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "❤️", ":blob_cat@example.org:", "blobcat:12345678901234567890"} {
		if status, say := simple(t, chat.Abilities{React: true}).call(t, turn(), "react-message", `{"emoji":"`+emoji+`"}`); status != 200 {
			t.Fatal(emoji, status, say)
		}
	}
	if status, _ := r.call(t, now, "react-message", `{"emoji":"👍"}`); status != 200 || !r.answered(now) {
		t.Fatal(status)
	}
	if react := r.net.got[0].(chat.React); react.Message != "q1" || react.Emoji != "👍" {
		t.Fatalf("%+v", react)
	}
	// AF-128: a turn that no message caused has nothing to react to.
	woke := chat.NewTurn(chat.Wake, chat.Event{ID: "w", Place: place, Body: chat.Woke{Job: "post"}}, chat.Owner, time.Now())
	if status, say := r.call(t, woke, "react-message", `{"emoji":"👍"}`); status != 400 || !strings.Contains(say, "no message") {
		t.Fatal(status, say)
	}
	if status, say := simple(t, chat.Abilities{}).call(t, turn(), "react-message", `{"emoji":"👍"}`); status != 400 || !strings.Contains(say, "net") {
		t.Fatal(status, say)
	}
}

func TestATurnSpeaksOnlyInItsPlace(t *testing.T) {
	r := simple(t, chat.Abilities{})
	_, err := r.Do(t.Context(), turn(), chat.Say{Place: chat.Place{Platform: "net", ID: "elsewhere"}, Text: "psst"})
	var fault tool.Fault
	if !errors.As(err, &fault) || fault.Status != 403 || r.net.said() != "" {
		t.Fatal(err)
	}
}

func TestSecretsNeverLeave(t *testing.T) {
	r := simple(t, chat.Abilities{})
	if _, err := r.Do(t.Context(), turn(), chat.Say{Place: place, Text: "it is hunter2hunter2!"}); err != nil || r.net.said() != "it is [REDACTED]!" {
		t.Fatal(err, r.net.said())
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{ // AF-126
		"<e>😆</e> hi":                         "😆 hi",
		"<a:dance:1> <:wave:2> hi":            "<a:dance:1> <:wave:2> hi",
		`one\ntwo`:                            "one\ntwo",
		"write `a\\n` or `<b>`, <b>not</b> x": "write `a\\n` or `<b>`, not x",
		"```\nprintf(\"\\n\") <p>\n```\\n<p>": "```\nprintf(\"\\n\") <p>\n```\n",
		"```\nnever closed \\n":               "```\nnever closed \\n",
		"a < b > c":                           "a < b > c",
	} {
		if got := clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
