package outbox

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/tool"
)

// guided is a network that knows where a person is spoken to alone, and reads the files that it is given.
type guided struct {
	*network
	direct chat.Place
	none   error
	read   *[]string
}

func (g guided) Self() chat.Person { return chat.Person{Platform: "net", ID: "us", Us: true} }

func (g guided) Emojis(context.Context, chat.Place) ([]chat.Emoji, error) { return nil, nil }

func (g guided) Direct(context.Context, chat.Person) (chat.Place, error) { return g.direct, g.none }

func (g guided) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	if send, ok := a.(chat.SendFile); ok {
		text, err := os.ReadFile(send.Files[0].Path)
		if err != nil {
			return chat.Receipt{}, err
		}
		*g.read = append(*g.read, string(text))
	}
	return g.network.Do(ctx, a)
}

func inGroup() chat.Turn {
	ev := chat.Event{ID: "e1", Place: chat.Place{Platform: "net", ID: "group", Kind: chat.Group}, From: chat.Person{Platform: "net", ID: "ann"}, Message: "q1"}
	return chat.NewTurn(chat.Talk, ev, chat.Public, time.Now())
}

var document1 = Document{Name: "memory-export.md", MIME: "text/markdown", Text: "wants tea; the key is hunter2hunter2"}

// AF-152: what was asked for in a group goes to the person alone; the group gets nothing, and the reply is still free.
func TestADocumentGoesToThePersonAlone(t *testing.T) {
	net, read := &network{able: chat.Abilities{Files: true}}, new([]string)
	r := open(t, net, guided{net, place, nil, read})
	for _, now := range []chat.Turn{inGroup(), turn()} {
		*read, net.got = nil, nil
		if _, err := r.Alone(t.Context(), now, document1); err != nil {
			t.Fatal(err)
		}
		send, ok := net.got[0].(chat.SendFile)
		if !ok || len(net.got) != 1 || !send.Place.Same(place) || send.Files[0].Name != "memory-export.md" || send.Key == "" {
			t.Fatalf("%+v", net.got)
		}
		if len(*read) != 1 || (*read)[0] == document1.Text || (*read)[0][:10] != "wants tea;" {
			t.Errorf("%q", *read)
		}
		if _, err := os.Stat(send.Files[0].Path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file stays: %v", err)
		}
		if r.answered(now) {
			t.Error("it took the place of the reply")
		}
		if replied, err := r.Replied(t.Context(), "e1"); replied || err != nil {
			t.Error("it counts as an answer", err)
		}
	}
}

func TestADocumentThatCannotGo(t *testing.T) {
	for name, c := range map[string]struct {
		able   chat.Abilities
		direct chat.Place
		none   error
		status int
	}{
		"no files":                 {chat.Abilities{}, place, nil, 400},
		"nobody there":             {chat.Abilities{Files: true}, chat.Place{}, platform.ErrUnreachable, 400},
		"a place with others":      {chat.Abilities{Files: true}, inGroup().Place, nil, 0},
		"the network does not say": {chat.Abilities{Files: true}, place, errors.New("away"), 400},
	} {
		net, read := &network{able: c.able}, new([]string)
		r := open(t, net, guided{net, c.direct, c.none, read})
		_, err := r.Alone(t.Context(), inGroup(), document1)
		var told tool.Fault
		if err == nil || errors.As(err, &told) != (c.status > 0) || told.Status != c.status || len(net.got) != 0 {
			t.Errorf("%s: %v, %d sent", name, err, len(net.got))
		}
	}
	net := &network{able: chat.Abilities{Files: true}}
	var told tool.Fault
	if _, err := open(t, net, net).Alone(t.Context(), inGroup(), document1); !errors.As(err, &told) || len(net.got) != 0 {
		t.Errorf("a network that knows of no direct places: %v", err)
	}
}

// A document that was being sent when the process died is not sent by the next one, which has no file any more.
func TestADocumentThatWasCutOff(t *testing.T) {
	net := &network{able: chat.Abilities{Files: true, Idempotent: true}}
	r := open(t, net, net)
	one := newRow(turn(), "k", chat.SendFile{Place: place, Files: []chat.File{{Path: "/gone"}}})
	one.document = true
	if _, _, err := r.ledger.begin(t.Context(), []row{one}); err != nil {
		t.Fatal(err)
	}
	r.reopen(t)
	if lost := r.recover(t); lost || len(net.got) != 0 {
		t.Errorf("it may be lost: %v, %d sent", lost, len(net.got))
	}
	if left, err := r.ledger.in(t.Context(), pending); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}
