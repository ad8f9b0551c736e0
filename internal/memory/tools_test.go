package memory

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/setting"
	"familiar/internal/tool"
)

// toolRig is a box with the memory tools over a temporary folder.
type toolRig struct {
	rig
	box   *tool.Box
	notes string
}

func newToolRig(t *testing.T) toolRig {
	t.Helper()
	r := toolRig{rig: newRig(t), notes: t.TempDir()}
	r.box = tool.NewBox(nil, Tools(r.Store, OpenNotes(Defaults(), r.notes))...)
	return r
}

func turn(kind chat.PlaceKind, trust chat.Trust) chat.Turn {
	ev := chat.Event{Place: chat.Place{Platform: ann.Platform, ID: "c1", Kind: kind}, From: ann}
	return chat.NewTurn(chat.Talk, ev, trust, time.Now())
}

func (r toolRig) call(t chat.Turn, name, args string) string {
	r.t.Helper()
	res, err := r.box.Call(r.t.Context(), t, name, json.RawMessage(args))
	if err != nil {
		r.t.Fatalf("%s %s: %v", name, args, err)
	}
	return string(res.Data)
}

func (r toolRig) note(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.notes, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func TestAnswersHaveTheirFields(t *testing.T) {
	r := newToolRig(t)
	var saved struct{ ID, Timestamp string }
	answer := r.call(turn(chat.Direct, chat.Owner), "memory-save", `{"content":"likes tea","importance":"high","relatedTo":["mem_1"]}`)
	if err := json.Unmarshal([]byte(answer), &saved); err != nil {
		t.Fatal(err)
	}
	r.want("save", []string{answer}, `{"id":"`+saved.ID+`","content":"likes tea","visibility":"private","importance":"high","timestamp":"`+
		saved.Timestamp+`","relatedTo":["mem_1"]}`)
	one := `[{"id":"` + saved.ID + `","enabled":true,"visibility":"private","importance":"high","content":"likes tea","createdAt":"` +
		saved.Timestamp + `","lastModifiedAt":"` + saved.Timestamp + `","relatedTo":["mem_1"],"supersedes":[]}]`
	r.want("search", []string{r.call(turn(chat.Direct, chat.Owner), "memory-search", `{"query":"tea"}`)},
		`{"userMemories":`+one+`,"memories":`+one+`,"agentNotes":[]}`)
	r.want("search in a group", []string{r.call(turn(chat.Group, chat.Owner), "memory-search", `{"query":"tea","limit":5}`)},
		`{"userMemories":[],"memories":[],"agentNotes":[]}`)
	var patched struct{ PatchID, Timestamp string }
	answer = r.call(turn(chat.Direct, chat.Owner), "memory-patch", `{"memory_id":"`+saved.ID+`","enabled":false}`)
	if err := json.Unmarshal([]byte(answer), &patched); err != nil {
		t.Fatal(err)
	}
	r.want("patch", []string{answer}, `{"patchId":"`+patched.PatchID+`","targetId":"`+saved.ID+`","timestamp":"`+patched.Timestamp+
		`","changes":{"enabled":false}}`)
}

// AF-129
func TestTheAgentDoesNotChooseTheVisibility(t *testing.T) {
	r := newToolRig(t)
	answer := r.call(turn(chat.Group, chat.Public), "memory-save", `{"content":"likes tea","visibility":"private"}`)
	if !strings.Contains(answer, `"visibility":"public"`) || len(r.lines(publicFile)) != 1 {
		t.Errorf("answer %s", answer)
	}
}

func TestToolRefusals(t *testing.T) {
	r := newToolRig(t)
	m := r.save(false, "likes tea", "")
	for name, c := range map[string]struct{ tool, args string }{
		"AF-130: a list that is text":          {"memory-save", `{"content":"x","relatedTo":"x"}`},
		"a list of numbers":                    {"memory-save", `{"content":"x","supersedes":[1]}`},
		"no content":                           {"memory-save", `{}`},
		"blank content":                        {"memory-save", `{"content":"  "}`},
		"an unknown importance":                {"memory-save", `{"content":"x","importance":"urgent"}`},
		"no query":                             {"memory-search", `{}`},
		"a blank query":                        {"memory-search", `{"query":" "}`},
		"a limit of 0":                         {"memory-search", `{"query":"x","limit":0}`},
		"a limit that is text":                 {"memory-search", `{"query":"x","limit":"5"}`},
		"AF-140: content cannot be patched":    {"memory-patch", `{"memory_id":"` + m.ID + `","content":"y"}`},
		"AF-141: patch of an unknown id":       {"memory-patch", `{"memory_id":"mem_no","enabled":false}`},
		"no id":                                {"memory-patch", `{"enabled":false}`},
		"a blank id":                           {"memory-patch", `{"memory_id":" ","enabled":false}`},
		"enabled that is text":                 {"memory-patch", `{"memory_id":"` + m.ID + `","enabled":"no"}`},
		"a visibility that nobody heard of":    {"memory-patch", `{"memory_id":"` + m.ID + `","visibility":"friends"}`},
		"AF-140: and an explicit nothing, too": {"memory-patch", `{"memory_id":"` + m.ID + `","relatedTo":[]}`},
	} {
		_, err := r.box.Call(t.Context(), turn(chat.Group, chat.Public), c.tool, json.RawMessage(c.args))
		var fault tool.Fault
		if !errors.As(err, &fault) || fault.Status != 400 {
			t.Errorf("%s: %v, want a fault of 400", name, err)
		}
	}
	if len(r.lines(publicFile)) != 1 {
		t.Error("something was written")
	}
}

func TestAMemoryKeepsTheStandingOfItsTurn(t *testing.T) {
	r := newToolRig(t)
	r.call(turn(chat.Direct, chat.Owner), "memory-save", `{"content":"own words","importance":"high"}`)
	if strings.Contains(r.lines(privateFile)[0], "standing") {
		t.Error("what the owner saved carries a standing")
	}
	reader := turn(chat.Direct, chat.Owner)
	r.call(reader, "memory-search", `{"query":"words"}`)
	if reader.Standing.Now() != chat.Owner {
		t.Errorf("after reading the owner's words: %v", reader.Standing.Now())
	}
	r.call(turn(chat.Direct, chat.Foreign), "memory-save", `{"content":"words of a web page","importance":"high"}`)
	if !strings.Contains(r.lines(privateFile)[1], `"standing":"foreign"`) {
		t.Errorf("the line is %s", r.lines(privateFile)[1])
	}
	r.call(reader, "memory-search", `{"query":"page"}`)
	if reader.Standing.Now() != chat.Foreign {
		t.Errorf("after reading a page's words: %v", reader.Standing.Now())
	}
	told := turn(chat.Direct, chat.Owner)
	important, err := newStoreOver(r).Important(t.Context(), ann, true)
	if err != nil {
		t.Fatal(err)
	}
	Lower(told, important)
	if told.Standing.Now() != chat.Foreign {
		t.Errorf("after being told: %v", told.Standing.Now())
	}
}

// newStoreOver returns a store that knows only what lies in r's files.
func newStoreOver(r toolRig) *Store { return Open(Defaults(), r.folder, nil, r.log) }

// AF-149
func TestNotes(t *testing.T) {
	r := newToolRig(t)
	r.note("README.md", "tea")
	r.note("notes/_index.md", "# Index\n- Tea: tea.md\n")
	r.note("notes/deep/tea.md", "intro\n  green TEA\r\nnothing\nblack tea\n")
	r.note("notes/tea.txt", "tea")
	outside := filepath.Join(t.TempDir(), "outside.md")
	if err := os.WriteFile(outside, []byte("tea of others"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(outside, filepath.Join(r.notes, "link.md")),
		os.Symlink(filepath.Dir(outside), filepath.Join(r.notes, "away")),
		syscall.Mkfifo(filepath.Join(r.notes, "pipe.md"), 0o600)); err != nil {
		t.Fatal(err)
	}
	answer := r.call(turn(chat.Group, chat.Public), "memory-search", `{"query":"tea"}`)
	r.want("found", []string{answer}, `{"userMemories":[],"memories":[],"agentNotes":[`+
		`{"filePath":"notes/_index.md","matchedLines":[{"lineNumber":2,"content":"- Tea: tea.md"}]},`+
		`{"filePath":"notes/deep/tea.md","matchedLines":[{"lineNumber":2,"content":"green TEA"},{"lineNumber":4,"content":"black tea"}]}]}`)
	answer = r.call(turn(chat.Group, chat.Public), "memory-search", `{"query":"tea","limit":1}`)
	if strings.Count(answer, "filePath") != 1 {
		t.Errorf("with limit 1: %s", answer)
	}
}

func TestNotesAreBounded(t *testing.T) {
	r := newToolRig(t)
	for _, name := range []string{"a.md", "b.md", "c.md", "d.md", "e.md", "f.md"} {
		r.note(name, strings.Repeat("tea "+strings.Repeat("茶", 2000)+"\n", 50))
	}
	notes, err := OpenNotes(Defaults(), r.notes).Search(t.Context(), "tea", 10)
	if err != nil {
		t.Fatal(err)
	}
	chars := 0
	for _, n := range notes {
		for _, l := range n.Lines {
			chars += len([]rune(l.Text))
		}
	}
	if chars < 2000 || chars > 2000+maxLineText {
		t.Errorf("%d characters were told", chars)
	}
	if notes, err := OpenNotes(Defaults(), filepath.Join(r.notes, "no")).Search(t.Context(), "tea", 10); err != nil || notes != nil {
		t.Errorf("a workspace that is not there: %v, %v", notes, err)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		in, want Config
		problems int
	}{
		{Defaults(), Config{10, 2000, 20, 10}, 0},
		{Config{0, 0, -1, -1}, Config{1, 1, 0, 0}, 4},
		{Config{101, 1, 0, 0}, Config{100, 1, 0, 0}, 1},
	} {
		var r setting.Report
		got := c.in
		got.Check(r.At("memory"))
		if got != c.want || len(r.Problems()) != c.problems {
			t.Errorf("%+v became %+v with %v", c.in, got, r.Problems())
		}
	}
}

func TestListShowsWhatIsInUseNewestFirst(t *testing.T) {
	r := newToolRig(t)
	owner := turn(chat.Direct, chat.Owner)
	r.want("nothing", []string{r.call(owner, "memory-list", `{}`)}, `{"memories":[],"total":0}`)
	var ids []string
	for _, content := range []string{"one", "two", "three"} {
		var saved struct{ ID string }
		if err := json.Unmarshal([]byte(r.call(owner, "memory-save", `{"content":"`+content+`"}`)), &saved); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, saved.ID)
	}
	r.call(owner, "memory-patch", `{"memory_id":"`+ids[1]+`","enabled":false}`)
	var got struct {
		Memories []struct{ Content string }
		Total    int
	}
	if err := json.Unmarshal([]byte(r.call(owner, "memory-list", `{}`)), &got); err != nil {
		t.Fatal(err)
	}
	if got.Total != 2 || len(got.Memories) != 2 || got.Memories[0].Content != "three" || got.Memories[1].Content != "one" {
		t.Fatalf("%+v", got)
	}
}
