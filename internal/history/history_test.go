package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/sqlite"
	"familiar/internal/tool"
)

var (
	here  = chat.Place{Platform: "web", ID: "here", Kind: chat.Direct}
	owner = chat.Person{Platform: "web", ID: "owner", Name: "Ann"}
	us    = chat.Person{Platform: "web", ID: "us", Bot: true, Us: true}
)

type rig struct {
	*History
	db *sqlite.DB
	at time.Time
}

func open(t *testing.T) *rig {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &rig{db: db, at: time.UnixMilli(1e12).UTC()}
	far := map[string]platform.Platform{"far": farNetwork{}}
	if r.History, err = Open(t.Context(), db, far, func() time.Time { return r.at }); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) note(t *testing.T, place chat.Place, id, text string, from chat.Person) {
	t.Helper()
	m := chat.Message{ID: chat.MessageID(id), From: from, Text: text, At: r.at}
	if err := r.db.Write(t.Context(), func(tx *sql.Tx) error { return r.Noting(place, m)(tx) }); err != nil {
		t.Fatal(err)
	}
}

// farNetwork keeps its own history.
type farNetwork struct{ platform.Platform }

func (farNetwork) Abilities() chat.Abilities { return chat.Abilities{Search: true} }
func (farNetwork) Before(context.Context, chat.Place, chat.MessageID, int) ([]chat.Message, error) {
	return []chat.Message{{ID: "f1", Text: "far away", From: owner}}, nil
}
func (farNetwork) Search(_ context.Context, _ chat.Place, query string, _ int) ([]chat.Message, error) {
	return []chat.Message{{ID: "f2", Text: "found " + query, From: chat.Person{ID: "z"}}}, nil
}

func texts(said []chat.Message) string {
	var all string
	for _, m := range said {
		all += m.Text + " "
	}
	return all
}

func TestBeforeIsOldestFirstAndBounded(t *testing.T) {
	r := open(t)
	for i := range KeptMessages + 5 {
		r.note(t, here, fmt.Sprint(i), fmt.Sprint(i), owner)
	}
	other := chat.Place{Platform: "web", ID: "other"}
	r.note(t, other, "1", "elsewhere", owner)
	said, err := r.Before(t.Context(), here, "204", 3)
	if err != nil || texts(said) != "201 202 203 " {
		t.Fatalf("%q, %v", texts(said), err)
	}
	if said, _ = r.Before(t.Context(), here, "", 2); texts(said) != "203 204 " {
		t.Fatalf("newest: %q", texts(said))
	}
	if said, _ = r.Before(t.Context(), here, "", 1000); len(said) != KeptMessages {
		t.Fatalf("%d kept", len(said))
	}
	r.at = r.at.Add(KeptFor + time.Hour)
	r.note(t, other, "2", "later", owner)
	if said, _ = r.Before(t.Context(), here, "", 10); len(said) != 0 {
		t.Fatalf("old words were kept: %q", texts(said))
	}
}

func TestAnEditReplacesTheText(t *testing.T) {
	r := open(t)
	r.note(t, here, "1", "first", us)
	r.note(t, here, "2", "second", owner)
	r.note(t, here, "1", "bettered", us)
	if said, _ := r.Before(t.Context(), here, "", 9); texts(said) != "bettered second " {
		t.Fatalf("%q", texts(said))
	}
}

func TestANetworkWithItsOwnHistoryIsAsked(t *testing.T) {
	r := open(t)
	far := chat.Place{Platform: "far", ID: "x", Kind: chat.Group}
	r.note(t, far, "1", "not kept", owner)
	if said, _ := r.Before(t.Context(), far, "", 9); texts(said) != "far away " {
		t.Fatalf("%q", texts(said))
	}
	var kept int
	if err := r.db.Read().QueryRow(`SELECT count(*) FROM history`).Scan(&kept); err != nil || kept != 0 {
		t.Fatal("kept a second copy", err)
	}
	if m, err := r.Find(t.Context(), far, "f1"); err != nil || m.Text != "far away" {
		t.Fatal(m, err)
	}
	if _, err := r.Find(t.Context(), far, "none"); !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
}

func TestTools(t *testing.T) {
	r := open(t)
	r.note(t, here, "1", "hello", owner)
	r.note(t, here, "2", "hi Ann", us)
	r.note(t, here, "3", "and now?", owner)
	box := tool.NewBox(nil, r.Tools(func(chat.TurnID) chat.MessageID { return "2" })...)
	direct := chat.NewTurn(chat.Talk, chat.Event{Place: here, From: owner, Message: "3", Body: chat.Said{}}, chat.Owner, r.at)
	group := direct
	group.Place, group.Standing = chat.Place{Platform: "far", ID: "x", Kind: chat.Group}, chat.NewStanding(chat.Owner)

	cases := []struct {
		name, tool, args, want string
		turn                   chat.Turn
		status                 int
	}{
		{"my last reply", "get-message", `{}`, `"content":"hi Ann"`, direct, 0},
		{"by id", "get-message", `{"messageId":"1"}`, `"username":"Ann"`, direct, 0},
		{"unknown id", "get-message", `{"messageId":"9"}`, `"9"`, direct, 400},
		{"recent", "fetch-context", `{"type":"recent_messages","limit":1}`, `"data":[{"messageId":"2"`, direct, 0},
		{"no limit of nought", "fetch-context", `{"type":"recent_messages","limit":0}`, "limit", direct, 400},
		{"AF-131 search without query", "fetch-context", `{"type":"search_messages","query":" "}`, "query", direct, 400},
		{"search where none is", "fetch-context", `{"type":"search_messages","query":"x"}`, "searched", direct, 400},
		{"search", "fetch-context", `{"type":"search_messages","query":"tea"}`, "found tea", group, 0},
		{"user", "fetch-context", `{"type":"user_info"}`, `"isDm":true`, direct, 0},
		{"wrong type", "fetch-context", `{"type":"weather"}`, "weather", direct, 400},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, err := box.Call(t.Context(), c.turn, c.tool, json.RawMessage(c.args))
			got := string(res.Data)
			var fault tool.Fault
			if errors.As(err, &fault) {
				got = fault.Say
			}
			if fault.Status != c.status || !strings.Contains(got, c.want) {
				t.Fatalf("status %d, %q, %v", fault.Status, got, err)
			}
		})
	}
	if group.Standing.Now() != chat.Public || direct.Standing.Now() != chat.Owner {
		t.Fatal("somebody else's words must lower a turn, and one's own must not")
	}
}
