package remind

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/setting"
	"familiar/internal/tool"
)

var (
	ann = chat.Person{Platform: "discord", ID: "1"}
	bob = chat.Person{Platform: "discord", ID: "2"}
)

// rig is a store in a folder, at a time that the test sets.
type rig struct {
	*Store
	t    *testing.T
	dir  string
	at   time.Time
	kit  *Kit
	box  *tool.Box
	told []string
}

func open(t *testing.T) *rig {
	r := &rig{t: t, dir: t.TempDir(), at: time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)}
	cfg := Defaults()
	cfg.MaxRemindersPerUser = 3
	r.Store = Open(cfg, Deps{Now: func() time.Time { return r.at },
		Folder: func(platform, user string) (string, error) {
			dir := filepath.Join(r.dir, platform, user)
			return dir, os.MkdirAll(dir, 0o700)
		},
		People: func() ([]chat.Person, error) {
			return []chat.Person{ann, bob, {Platform: "discord", ID: "nobody"}}, nil
		},
	})
	tell := func(what string) func(chat.Turn) {
		return func(t chat.Turn) { r.told = append(r.told, what+" "+t.From.ID) }
	}
	r.kit = NewKit(r.Store, time.FixedZone("", 2*3600), Hooks{tell("set"), tell("cancelled")})
	r.box = tool.NewBox(nil, r.kit.Tools()...)
	return r
}

func (r *rig) file(p chat.Person) string {
	return filepath.Join(r.dir, p.Platform, p.ID, "reminders.jsonl")
}

func talk(from chat.Person, kind chat.PlaceKind) chat.Turn {
	ev := chat.Event{Place: chat.Place{Platform: from.Platform, ID: "dm", Kind: kind}, From: from, Body: chat.Said{Text: "remind me"}}
	return chat.NewTurn(chat.Talk, ev, chat.Known, time.Now())
}

// call calls a tool, and returns its answer or what it was refused with.
func (r *rig) call(t chat.Turn, name, args string) (string, int) {
	r.t.Helper()
	res, err := r.box.Call(r.t.Context(), t, name, json.RawMessage(args))
	var bad tool.Fault
	if errors.As(err, &bad) {
		return bad.Say, bad.Status
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return string(res.Data), 200
}

func (r *rig) due() (ids []string) {
	r.t.Helper()
	due, err := r.Due(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, d := range due {
		ids = append(ids, d.Message)
	}
	return ids
}

// AF-160, BUG-H15, BUG-H16
func TestWhatIsNotSet(t *testing.T) {
	r := open(t)
	good := `{"scheduledAt":"2027-03-01T15:00","message":"tea"}`
	once := talk(ann, chat.Direct)
	if answer, status := r.call(once, "set-reminder", good); status != 200 || !strings.Contains(answer, `"scheduledAt":"2027-03-01T13:00:00.000Z"`) {
		t.Fatal(answer, status)
	}
	woke := talk(ann, chat.Direct)
	woke.Kind = chat.Wake
	for name, c := range map[string]struct {
		turn chat.Turn
		args string
		say  string
	}{
		"in a guild":                {talk(ann, chat.Group), good, "direct"},
		"twice in one session":      {once, good, "already"},
		"by a reminder":             {woke, good, "wish"},
		"10 s ahead":                {talk(ann, chat.Direct), `{"scheduledAt":"2027-03-01T12:00:10Z","message":"tea"}`, "1m0s"},
		"now":                       {talk(ann, chat.Direct), `{"scheduledAt":"2027-03-01T12:00:00Z","message":"tea"}`, "at least"},
		"a year of five digits":     {talk(ann, chat.Direct), `{"scheduledAt":"9999-12-31T23:59:00-02:00","message":"tea"}`, "10000"},
		"no time":                   {talk(ann, chat.Direct), `{"scheduledAt":"in 0 minutes","message":"tea"}`, "ISO 8601"},
		"no message":                {talk(ann, chat.Direct), `{"scheduledAt":"2027-03-01T15:00","message":" \n"}`, "blank"},
		"a message without end":     {talk(ann, chat.Direct), `{"scheduledAt":"2027-03-01T15:00","message":"` + strings.Repeat("x", 4001) + `"}`, "4000"},
		"something that is no text": {talk(ann, chat.Direct), `{"scheduledAt":5,"message":"tea"}`, "scheduledAt"},
	} {
		if say, status := r.call(c.turn, "set-reminder", c.args); status != 400 || !strings.Contains(say, c.say) {
			t.Errorf("%s: %d %s", name, status, say)
		}
	}
	for range 2 {
		if say, status := r.call(talk(ann, chat.Direct), "set-reminder", good); status != 200 {
			t.Fatal(say)
		}
	}
	if say, status := r.call(talk(ann, chat.Direct), "set-reminder", good); status != 400 || !strings.Contains(say, "3 reminders") {
		t.Error("one too many:", status, say)
	}
	if say, status := r.call(talk(bob, chat.Direct), "set-reminder", good); status != 200 {
		t.Error("somebody else:", say)
	}
	if got := strings.Join(r.told, ", "); got != "set 1, set 1, set 1, set 2" {
		t.Error(got)
	}
}

// A wish that was refused leaves the turn its one reminder, and what a turn did is forgotten with it.
func TestASecondTry(t *testing.T) {
	r, turn := open(t), talk(ann, chat.Direct)
	if _, status := r.call(turn, "set-reminder", `{"scheduledAt":"yesterday","message":"tea"}`); status != 400 {
		t.Fatal(status)
	}
	if say, status := r.call(turn, "set-reminder", `{"scheduledAt":"2027-03-01T15:00","message":"tea"}`); status != 200 {
		t.Fatal(say)
	}
	r.kit.Forget(turn)
	if len(r.kit.done) != 0 {
		t.Error(r.kit.done)
	}
}

// AF-161
func TestCancel(t *testing.T) {
	r := open(t)
	set, err := r.Set(t.Context(), ann, "dm", r.at.Add(time.Hour), "tea")
	if err != nil {
		t.Fatal(err)
	}
	args := fmt.Sprintf(`{"reminderId":%q}`, set.ID)
	if say, status := r.call(talk(bob, chat.Direct), "cancel-reminder", args); status != 400 {
		t.Error("another user's:", say)
	}
	if say, status := r.call(talk(ann, chat.Group), "cancel-reminder", args); status != 400 {
		t.Error("in a group:", say)
	}
	if say, status := r.call(talk(ann, chat.Direct), "cancel-reminder", `{"reminderId":"rem_1_x"}`); status != 400 || !strings.Contains(say, "no reminder") {
		t.Error("an unknown one:", say)
	}
	if say, status := r.call(talk(ann, chat.Direct), "cancel-reminder", args); status != 200 || say != fmt.Sprintf(`{"reminderId":%q,"cancelled":true}`, set.ID) {
		t.Error(say)
	}
	if say, status := r.call(talk(ann, chat.Direct), "cancel-reminder", args); status != 400 || !strings.Contains(say, "already") {
		t.Error("a cancelled one:", say)
	}
	r.at = r.at.Add(2 * time.Hour)
	if due := r.due(); len(due) != 0 {
		t.Error("it is due all the same:", due)
	}
	if got := strings.Join(r.told, ", "); got != "cancelled 1" {
		t.Error(got)
	}
}

func TestListTellsWhatIsToCome(t *testing.T) {
	r := open(t)
	for i, message := range []string{"later", "sooner"} {
		if _, err := r.Set(t.Context(), ann, "dm", r.at.Add(time.Duration(3-i)*time.Hour), message); err != nil {
			t.Fatal(err)
		}
	}
	answer, _ := r.call(talk(ann, chat.Direct), "list-reminders", `{}`)
	var got list
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Count != 2 || got.Reminders[0].Message != "sooner" ||
		got.Reminders[0].ScheduledAt != "2027-03-01T14:00:00.000Z" || got.Reminders[0].CreatedAt != "2027-03-01T12:00:00.000Z" {
		t.Fatal(answer, err)
	}
	if say, status := r.call(talk(ann, chat.Group), "list-reminders", `{}`); status != 400 || strings.Contains(say, "tea") {
		t.Error("in a group:", say)
	}
	r.at = r.at.Add(150 * time.Minute)
	if answer, _ := r.call(talk(bob, chat.Direct), "list-reminders", `{}`); answer != `{"reminders":[],"count":0}` {
		t.Error(answer)
	}
	if answer, _ := r.call(talk(ann, chat.Direct), "list-reminders", `{}`); !strings.Contains(answer, `"count":1`) {
		t.Error(answer)
	}
}

// AF-162, AF-166: what came due while nobody looked is due at the first look, the oldest first, and never again once
// it is closed; the file says so in the form that others read.
func TestDueOnce(t *testing.T) {
	r := open(t)
	for _, p := range []chat.Person{ann, bob} {
		if _, err := r.Set(t.Context(), p, "dm", r.at.Add(time.Hour+time.Duration(len(p.ID+p.ID))), p.ID); err != nil {
			t.Fatal(err)
		}
	}
	if due := r.due(); len(due) != 0 {
		t.Fatal("too soon:", due)
	}
	r.at = r.at.Add(48 * time.Hour)
	due, err := r.Due(t.Context())
	if err != nil || len(due) != 2 || due[0].Place != "dm" {
		t.Fatal(due, err)
	}
	if err := r.Close(due[0]); err != nil {
		t.Fatal(err)
	}
	if left := r.due(); len(left) != 1 || left[0] != due[1].Message {
		t.Error(left)
	}
	raw, err := os.ReadFile(r.file(due[0].Person))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	want := fmt.Sprintf(`{"type":"reminder-patch","targetId":%q,"ts":"2027-03-03T12:00:00.000Z","changes":{"enabled":false}}`, due[0].ID)
	if len(lines) != 2 || lines[1] != want {
		t.Errorf("the file:\n%s", raw)
	}
	if info, err := os.Stat(r.file(ann)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

// AF-165: a delivery that fails is tried again, ever later, across restarts, and not for ever.
func TestAttemptsAreBounded(t *testing.T) {
	r := open(t)
	if _, err := r.Set(t.Context(), ann, "dm", r.at.Add(time.Hour), "tea"); err != nil {
		t.Fatal(err)
	}
	r.at = r.at.Add(time.Hour)
	tries := 0
	for range 10_000 { // 30 seconds each
		due, err := r.Due(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range due {
			tries++
			again, err := r.Failed(d)
			if err != nil {
				t.Fatal(err)
			}
			if !again {
				if err := r.Close(d); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.at = r.at.Add(30 * time.Second)
	}
	if tries != MaxAttempts {
		t.Errorf("%d tries", tries)
	}
}

// BUG-H09: a file that was edited by hand, or by an older program, costs the lines that cannot be read and no other.
func TestAFileOfSomebodyElse(t *testing.T) {
	r := open(t)
	text := strings.Join([]string{
		`{"type":"reminder","id":"rem_1_a","createdAt":"2026-01-01T00:00:00.000Z","scheduledAt":"2027-03-01T10:00:00Z","message":"old","platform":"discord","userId":"1","enabled":true}`,
		`{"type":"reminder","id":"rem_2_b","scheduledAt":"soon","message":"no time","platform":"discord","userId":"1","enabled":true}`,
		`{"type":"reminder","id":3,"scheduledAt":"2027-03-01T10:00:00Z","message":"a number","platform":"discord","userId":"1"}`,
		`{"type":"reminder","scheduledAt":"2027-03-01T10:00:00Z","message":"no id","platform":"discord","userId":"1"}`,
		`{"type":"reminder","id":"rem_4_d","scheduledAt":"2027-03-01T12:00:00+02:00","message":"with an offset","platform":"discord","userId":"1","mood":{"x":1}}`,
		`{"type":"reminder","id":"rem_5_e","scheduledAt":"2027-03-01T10:00:00Z","message":"of somebody else","platform":"discord","userId":"9"}`,
		`{"type":"reminder","id":"rem_6_f","scheduledAt":"2027-03-01T10:00:00Z","message":"off","platform":"discord","userId":"1","enabled":false}`,
		`{"type":"reminder-patch","targetId":"rem_1_a","ts":"x"}`, `{"type":"reminder-patch","targetId":"nobody","changes":{"enabled":false}}`,
		`{"type":"song"}`, `null`, `[1]`, `{`, ``}, "\n")
	if _, err := r.folder("discord", "1"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.file(ann), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.due(), ", "); got != "old, with an offset" {
		t.Error(got)
	}
	if _, err := r.Set(t.Context(), ann, "dm", r.at.Add(time.Hour), "new"); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(r.file(ann))
	if err != nil || !strings.HasPrefix(string(after), text) {
		t.Error("what was there was changed:", err)
	}
}

// What of one person cannot be read keeps nobody else's reminder back.
func TestOneFileIsBroken(t *testing.T) {
	r := open(t)
	if _, err := r.Set(t.Context(), bob, "dm", r.at.Add(time.Hour), "tea"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(r.file(ann), 0o700); err != nil { // a folder where the file should be
		t.Fatal(err)
	}
	r.at = r.at.Add(time.Hour)
	due, err := r.Due(t.Context())
	if len(due) != 1 || err == nil {
		t.Error(due, err)
	}
}

func TestTwoAtOnce(t *testing.T) {
	r := open(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { _, _ = r.Set(t.Context(), ann, "dm", r.at.Add(time.Hour), "tea") })
	}
	wg.Wait()
	if all, err := r.Active(t.Context(), ann); err != nil || len(all) != 3 {
		t.Error(len(all), err)
	}
}

// AF-22
func TestLeastValues(t *testing.T) {
	c := Config{MinIntervalMs: 1, CheckIntervalMs: 1, PersistPath: "reminders.jsonl"}
	var report setting.Report
	c.Check(report.At("companion.reminders"))
	if c.MinIntervalMs != 10_000 || c.CheckIntervalMs != 5_000 || c.MaxRemindersPerUser != 1 || len(report.Problems()) != 3 {
		t.Errorf("%+v %+v", c, report.Problems())
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"type":"reminder","id":"rem_1_a","scheduledAt":"2027-03-01T10:00:00Z","message":"x","platform":"p","userId":"1"}`))
	f.Add([]byte(`{"type":"reminder-patch","targetId":"rem_1_a","changes":{"attempts":-1,"notTill":"x"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p parsed
		_ = p.add(raw)
		_ = p.add(raw)
		for _, r := range p.resolve() {
			if r.ID == "" || r.Person.ID == "" || r.At.IsZero() && !strings.Contains(string(raw), "0001-01-01") {
				t.Errorf("%+v of %q", r, raw)
			}
		}
	})
}
