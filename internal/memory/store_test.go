package memory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
)

var ann = chat.Person{Platform: "discord", ID: "1001", Name: "Ann"}

// desk is a store over a temporary folder.
type rig struct {
	*Store
	t    *testing.T
	root string
	logs *strings.Builder
}

func newRig(t *testing.T) rig {
	t.Helper()
	r := rig{t: t, root: t.TempDir(), logs: new(strings.Builder)}
	log := slog.New(slog.NewTextHandler(r.logs, nil))
	r.Store = Open(Defaults(), r.folder, nil, log)
	return r
}

func (r rig) folder(platform, user string) (string, error) {
	dir := filepath.Join(r.root, platform, user)
	return dir, os.MkdirAll(dir, 0o700)
}

// file returns the path of one of Ann's files.
func (r rig) file(kind fileKind) string {
	dir, err := r.folder(ann.Platform, ann.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return filepath.Join(dir, kind.name())
}

func (r rig) write(kind fileKind, lines ...string) {
	r.t.Helper()
	if err := os.WriteFile(r.file(kind), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r rig) lines(kind fileKind) []string {
	r.t.Helper()
	data, err := os.ReadFile(r.file(kind))
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func (r rig) save(private bool, content string, importance Importance) Memory {
	r.t.Helper()
	m, err := r.Save(r.t.Context(), ann, private, Draft{Content: content, Importance: importance})
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

func (r rig) change(private bool, id string, c Changes) Patch {
	r.t.Helper()
	p, err := r.Patch(r.t.Context(), ann, private, id, c)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r rig) important(private bool) []string {
	return r.texts(r.Important(r.t.Context(), ann, private))
}

func (r rig) find(private bool, query string) []string {
	return r.texts(r.Search(r.t.Context(), ann, private, query, 0))
}

func (r rig) texts(found []Memory, err error) []string {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	texts := []string{}
	for _, m := range found {
		texts = append(texts, m.Content)
	}
	return texts
}

func (r rig) want(what string, got []string, want ...string) {
	r.t.Helper()
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func memoryLine(id, ts, visibility, importance, content string) string {
	return fmt.Sprintf(`{"type":"memory","id":%q,"ts":%q,"enabled":true,"visibility":%q,"importance":%q,"content":%q}`,
		id, ts, visibility, importance, content)
}

func ptr[T any](v T) *T { return &v }

// AF-135, AF-136
func TestSaveGoesWhereItWasSaid(t *testing.T) {
	r := newRig(t)
	ids := regexp.MustCompile(`^mem_[0-9a-z]+_[0-9a-z]{6}$`)
	for _, private := range []bool{true, false} {
		m := r.save(private, "likes <tea> & 茶", "")
		if !ids.MatchString(m.ID) {
			t.Errorf("id %q", m.ID)
		}
		kind := publicFile
		if private {
			kind = privateFile
		}
		want := fmt.Sprintf(`{"type":"memory","id":%q,"ts":%q,"enabled":true,"visibility":%q,"importance":"normal","content":"likes <tea> & 茶"}`,
			m.ID, m.At.Format(iso), kind.visibility())
		r.want(string(kind.visibility()), r.lines(kind), want)
	}
	info, err := os.Stat(r.file(privateFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestBothFilesAreThereAfterTheFirstLook(t *testing.T) {
	r := newRig(t)
	r.want("important", r.important(false))
	for _, kind := range []fileKind{publicFile, privateFile} {
		if info, err := os.Stat(r.file(kind)); err != nil || info.Size() != 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", kind.name(), err)
		}
	}
}

// AF-71, AF-72
func TestImportant(t *testing.T) {
	r := newRig(t)
	r.write(publicFile, memoryLine("mem_c", "2025-01-03T00:00:00.000Z", "public", "high", "third"),
		memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "public", "high", "first"),
		memoryLine("mem_n", "2025-01-01T00:00:00.000Z", "public", "normal", "not told"))
	r.write(privateFile, memoryLine("mem_b", "2025-01-02T00:00:00.000Z", "private", "high", "second"))
	r.want("in private", r.important(true), "first", "second", "third")
	r.want("in a group", r.important(false), "first", "third")
	r.change(true, "mem_a", Changes{Enabled: ptr(false)})
	r.want("with one disabled", r.important(true), "second", "third")
	r.change(true, "mem_n", Changes{Importance: ptr(High)})
	r.want("with one raised", r.important(false), "not told", "third")
}

// AF-137
func TestDisablingAppends(t *testing.T) {
	r := newRig(t)
	m := r.save(false, "has a cat", High)
	before := r.lines(publicFile)
	p := r.change(false, m.ID, Changes{Enabled: ptr(false)})
	after := r.lines(publicFile)
	want := fmt.Sprintf(`{"type":"patch","id":%q,"target_id":%q,"ts":%q,"changes":{"enabled":false}}`,
		p.ID, m.ID, p.At.Format(iso))
	r.want("the file", after, before[0], want)
	r.want("found", r.find(false, "cat"))
	r.want("told", r.important(false))
	all, err := r.All(t.Context(), ann, false)
	if err != nil || len(all) != 1 || all[0].Enabled || !all[0].ModifiedAt.Equal(p.At) {
		t.Errorf("all: %+v, %v", all, err)
	}
}

// AF-138: by time, not by place in the file. AF-139: lists grow. Both forms of a patch count.
func TestPatchesInTheOrderOfTheirTimes(t *testing.T) {
	r := newRig(t)
	r.write(publicFile, memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "public", "normal", "one"),
		`{"type":"patch","target_id":"mem_a","ts":"2025-01-03T00:00:00.000Z","changes":{"importance":"normal","relatedTo":["a","b"]}}`,
		`{"type":"patch","id":"patch_x","targetId":"mem_a","ts":"2025-01-02T00:00:00.000Z","importance":"high","relatedTo":["a"]}`,
		`{"type":"patch","target_id":"mem_gone","ts":"2025-01-02T00:00:00.000Z","changes":{"enabled":false}}`)
	all, err := r.All(t.Context(), ann, false)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	m := all[0]
	if m.Importance != Normal || !slices.Equal(m.RelatedTo, []string{"a", "b"}) || m.ModifiedAt.Day() != 3 {
		t.Errorf("resolved to %+v", m)
	}
	r.write(publicFile, memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "public", "normal", "one"),
		`{"type":"patch","targetId":"mem_a","ts":"2025-01-02T00:00:00.000Z","importance":"high"}`)
	r.want("the flat form alone", r.important(false), "one")
}

func TestAPatchCountsAfterOneFromTheFuture(t *testing.T) {
	r := newRig(t)
	r.write(publicFile, memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "public", "normal", "one"),
		`{"type":"patch","target_id":"mem_a","ts":"2999-01-01T00:00:00.000Z","changes":{"importance":"high"}}`)
	r.want("before", r.important(false), "one")
	r.change(false, "mem_a", Changes{Importance: ptr(Normal)})
	r.want("after", r.important(false))
}

// AF-141 and the refusals beside it: nothing is written.
func TestPatchRefusals(t *testing.T) {
	r := newRig(t)
	secret := r.save(true, "said in private", "")
	r.write(publicFile, memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "public", "normal", "one"),
		`{"type":"patch","target_id":"mem_a","ts":"2025-01-02T00:00:00.000Z","changes":{"visibility":"private"}}`)
	before := r.lines(publicFile)
	for name, c := range map[string]struct {
		id   string
		c    Changes
		want error
	}{
		"unknown id":             {"mem_no", Changes{Enabled: ptr(false)}, ErrNotFound},
		"private, from a group":  {secret.ID, Changes{Enabled: ptr(false)}, ErrNotFound},
		"now private, the same":  {"mem_a", Changes{Visibility: ptr(Public)}, ErrNotFound},
		"nothing":                {"mem_a", Changes{}, ErrInvalid},
		"empty lists":            {"mem_a", Changes{RelatedTo: []string{}}, ErrInvalid},
		"a blank in a list":      {"mem_a", Changes{RelatedTo: []string{" "}}, ErrInvalid},
		"an unknown visibility":  {"mem_a", Changes{Visibility: ptr(Visibility("all"))}, ErrInvalid},
		"an unknown importance":  {"mem_a", Changes{Importance: ptr(Importance("low"))}, ErrInvalid},
		"far too many relations": {"mem_a", Changes{RelatedTo: slices.Repeat([]string{"m"}, 101)}, ErrInvalid},
	} {
		if _, err := r.Patch(t.Context(), ann, false, c.id, c.c); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	r.want("the file", r.lines(publicFile), before...)
}

func TestSaveRefusals(t *testing.T) {
	r := newRig(t)
	for name, d := range map[string]Draft{
		"blank": {Content: " \n"}, "importance": {Content: "x", Importance: "urgent"},
		"too long": {Content: strings.Repeat("x", maxContent+1)}, "a blank id": {Content: "x", Supersedes: []string{""}},
	} {
		if _, err := r.Save(t.Context(), ann, false, d); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := r.Save(ended, ann, false, Draft{Content: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the turn: %v", err)
	}
	if _, err := os.Stat(r.file(publicFile)); err == nil && len(r.lines(publicFile)[0]) > 0 {
		t.Error("something was written")
	}
}

// AF-142
func TestABrokenLineCostsItselfAlone(t *testing.T) {
	r := newRig(t)
	r.write(publicFile, memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "public", "high", "one"),
		`{"type":"memory","id":"mem_b","ts":"2025-`, "\x00\x00\x00", `not json`, `[]`, `"text"`, `{}`,
		`{"type":"memory","id":"mem_x","ts":"yesterday","content":"no time"}`,
		`{"type":"note of a later version","content":"passed over in silence"}`,
		memoryLine("mem_c", "2025-01-02T00:00:00.000Z", "public", "high", "two"))
	r.want("told", r.important(false), "one", "two")
	if !strings.Contains(r.logs.String(), "level=WARN") || !strings.Contains(r.logs.String(), "lines=7") {
		t.Errorf("the log says %q", r.logs)
	}
	if strings.Contains(r.logs.String(), "no time") {
		t.Error("the log tells a memory")
	}
}

func TestATornLineIsNotGluedToTheNext(t *testing.T) {
	r := newRig(t)
	whole := memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "public", "high", "one")
	if err := os.WriteFile(r.file(publicFile), []byte(whole+"\n"+whole[:40]), 0o600); err != nil {
		t.Fatal(err)
	}
	r.want("before", r.important(false), "one")
	r.save(false, "two", High)
	r.want("after", r.important(false), "one", "two")
}

// BUG-I03: ids are unique and rise, whoever saves at once; nothing is lost or mixed.
func TestManySaveAtOnce(t *testing.T) {
	r := newRig(t)
	const people, each = 8, 20
	var wait sync.WaitGroup
	for n := range people {
		wait.Go(func() {
			for i := range each {
				if _, err := r.Save(t.Context(), ann, n%2 == 0, Draft{Content: fmt.Sprint(n, " ", i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	for _, s := range []*Store{r.Store, Open(Defaults(), r.folder, nil, slog.New(slog.DiscardHandler))} {
		all, err := s.All(t.Context(), ann, true)
		if err != nil || len(all) != people*each {
			t.Fatalf("%d memories, %v", len(all), err)
		}
		ids := map[string]bool{}
		for _, m := range all {
			ids[m.ID] = true
		}
		if len(ids) != people*each {
			t.Errorf("%d ids", len(ids))
		}
	}
}

// BUG-I03
func TestIdsRiseWhenTheClockDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock stands still
		var m minter
		ids := map[string]bool{}
		last := time.Time{}
		for i := range 1000 {
			now := time.Now().Add(-time.Duration(i%2) * time.Hour) // and is set back, again and again
			id, at := m.mint("mem", now, time.Time{})
			if ids[id] || at.Before(last) {
				t.Fatalf("%s at %v after %v", id, at, last)
			}
			ids[id], last = true, at
		}
	})
}

func TestAFileEditedByHandIsSeen(t *testing.T) {
	r := newRig(t)
	r.save(false, "one", High)
	r.want("before", r.important(false), "one")
	r.write(publicFile, memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "public", "high", "by hand"))
	r.want("rewritten", r.important(false), "by hand")
	r.save(false, "two", High)
	r.want("and appended to", r.important(false), "by hand", "two")
	if err := os.Remove(r.file(publicFile)); err != nil {
		t.Fatal(err)
	}
	r.want("removed", r.important(false))
	r.save(false, "three", High)
	r.want("begun again", r.important(false), "three")
}

func TestAFolderThatCannotBe(t *testing.T) {
	refused := errors.New("not here")
	s := Open(Defaults(), func(string, string) (string, error) { return "", refused }, nil, slog.New(slog.DiscardHandler))
	if _, err := s.Save(t.Context(), ann, false, Draft{Content: "x"}); !errors.Is(err, refused) {
		t.Errorf("save: %v", err)
	}
	if _, err := s.Important(t.Context(), ann, false); !errors.Is(err, refused) {
		t.Errorf("important: %v", err)
	}
}

func TestOnlySomePeopleStayInMemory(t *testing.T) {
	r := newRig(t)
	for n := range maxPeople + 10 {
		who := chat.Person{Platform: "web", ID: fmt.Sprint(n)}
		if _, err := r.Save(t.Context(), who, false, Draft{Content: "x", Importance: High}); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.people.all) != maxPeople || r.people.order.Len() != maxPeople {
		t.Errorf("%d people are kept, %d in order", len(r.people.all), r.people.order.Len())
	}
	r.want("one who was dropped", r.texts(r.Important(t.Context(), chat.Person{Platform: "web", ID: "0"}, false)), "x")
}
