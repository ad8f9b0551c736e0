package memory

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

// newExportRig has the tools that tell a person about themselves; sent holds what was delivered.
func newExportRig(t *testing.T) (r toolRig, sent *[]Export) {
	r, sent = toolRig{rig: newRig(t)}, new([]Export)
	r.box = tool.NewBox(nil, AloneTools(r.Store, func(_ context.Context, to chat.Turn, file Export) (chat.MessageID, error) {
		if to.From != ann {
			t.Errorf("sent to %v", to.From)
		}
		*sent = append(*sent, file)
		return "m1", nil
	})...)
	return r, sent
}

func TestStats(t *testing.T) {
	r, _ := newExportRig(t)
	r.save(false, "public", High)
	off := r.save(false, "public, off", High)
	r.change(false, off.ID, Changes{Enabled: ptr(false)})
	hidden := r.save(false, "public, now private", Normal)
	r.change(true, hidden.ID, Changes{Visibility: ptr(Private)})
	r.save(true, "private", Normal)
	public := `{"total":2,"enabled":1,"disabled":1,"highImportance":1,"normalImportance":0}`
	for name, c := range map[string]struct {
		kind chat.PlaceKind
		want string
	}{
		// AF-151: of one enabled and one disabled important memory, one counts.
		"AF-150, AF-151: in a group": {chat.Group, `{"public":` + public + `,"private":null,"summary":{"totalMemories":2,"totalEnabled":1,` +
			`"totalDisabled":1,"totalHighImportance":1,"totalNormalImportance":0}}`},
		"in private": {chat.Direct, `{"public":` + public + `,"private":{"total":2,"enabled":2,"disabled":0,"highImportance":0,` +
			`"normalImportance":2},"summary":{"totalMemories":4,"totalEnabled":3,"totalDisabled":1,"totalHighImportance":1,"totalNormalImportance":2}}`},
	} {
		if got := r.call(turn(c.kind, chat.Public), "memory-stats", `{}`); got != c.want {
			t.Errorf("%s:\n got  %s\n want %s", name, got, c.want)
		}
	}
}

// AF-152: asked for in a group, the file holds both kinds, and the answer that the agent reads holds none of it.
func TestExport(t *testing.T) {
	r, sent := newExportRig(t)
	first := r.save(false, "likes *tea*", High)
	second := r.save(true, "afraid of spiders", Normal)
	off := r.save(true, "no longer", Normal)
	r.change(true, off.ID, Changes{Enabled: ptr(false)})
	r.change(true, second.ID, Changes{RelatedTo: []string{first.ID}})
	answer := r.call(turn(chat.Group, chat.Public), "memory-export", `{}`)
	if answer != `{"count":2,"format":"markdown","fileName":"memory-export.md","messageId":"m1"}` {
		t.Error(answer)
	}
	all, err := r.All(t.Context(), ann, true)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Memory export\n\nTotal: 2\n\n## [HIGH] " + first.ID + "\n\n- Visibility: public\n- Importance: high\n- Enabled: true\n- Created: " +
		stampText(first.At) + "\n\nlikes *tea*\n\n---\n\n## [NORMAL] " + second.ID + "\n\n- Visibility: private\n- Importance: normal\n- Enabled: true\n- Created: " +
		stampText(second.At) + "\n- Last modified: " + stampText(all[1].ModifiedAt) + "\n\nafraid of spiders\n\n---\n\n"
	if got := (*sent)[0]; got.Text != want || got.Name != "memory-export.md" {
		t.Errorf("%s\n got  %q\n want %q", got.Name, got.Text, want)
	}
	for args, count := range map[string]int{`{"format":"json","enabled_only":false}`: 3, `{"format":"json","importance":"high"}`: 1, `{"format":"json","importance":"normal"}`: 1} {
		r.call(turn(chat.Direct, chat.Public), "memory-export", args)
		var told []exported
		file := (*sent)[len(*sent)-1]
		if err := json.Unmarshal([]byte(file.Text), &told); err != nil || len(told) != count || file.Name != "memory-export.json" {
			t.Errorf("%s: %v, %d memories in %s", args, err, len(told), file.Name)
		}
		if !strings.HasPrefix(file.Text, "[\n  {\n    \"id\": ") {
			t.Errorf("%s: %.40q", args, file.Text)
		}
	}
}

func TestAnEmptyExportSaysSo(t *testing.T) {
	r, sent := newExportRig(t)
	r.call(turn(chat.Direct, chat.Public), "memory-export", `{}`)
	if got := (*sent)[0].Text; got != "# Memory export\n\nTotal: 0\n\nNothing is remembered that was asked for.\n\n" {
		t.Errorf("%q", got)
	}
	for _, args := range []string{`{"format":"pdf"}`, `{"importance":"low"}`} {
		_, err := r.box.Call(t.Context(), turn(chat.Direct, chat.Public), "memory-export", json.RawMessage(args))
		var told tool.Fault
		if !errors.As(err, &told) || told.Status != 400 {
			t.Errorf("%s: %v", args, err)
		}
	}
	if len(*sent) != 1 {
		t.Errorf("%d files", len(*sent))
	}
}
