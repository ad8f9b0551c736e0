package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

// A session that tidies saves a summary to the side of what it sums up, and never mixes the two.
func TestASummaryIsAsVisibleAsWhatItSumsUp(t *testing.T) {
	r := newToolRig(t)
	save := func(private bool) string { return r.save(private, "likes tea", "").ID }
	open1, open2, shut1, shut2, off := save(false), save(false), save(true), save(true), save(false)
	if _, err := r.Patch(t.Context(), ann, true, off, Changes{Enabled: new(bool)}); err != nil {
		t.Fatal(err)
	}
	moved := save(false) // written in public, and made private since
	hidden := Private
	if _, err := r.Patch(t.Context(), ann, true, moved, Changes{Visibility: &hidden}); err != nil {
		t.Fatal(err)
	}
	other, err := r.Store.Save(t.Context(), chat.Person{Platform: ann.Platform, ID: "bob"}, false, Draft{Content: "of bob"})
	if err != nil {
		t.Fatal(err)
	}
	tidying := func() chat.Turn {
		ev := chat.Event{Place: chat.Place{Platform: ann.Platform, ID: "x", Kind: chat.Direct}, From: ann, Body: chat.Woke{Job: chat.UpkeepSession}}
		return chat.NewTurn(chat.Wake, ev, chat.Owner, time.Now())
	}
	for name, c := range map[string]struct {
		ids  []string
		want string // the visibility, or a part of the fault
	}{
		"all public":               {[]string{open1, open2}, "public"},
		"all private":              {[]string{shut1, shut2}, "private"},
		"private since":            {[]string{moved, shut1}, "private"},
		"mixed":                    {[]string{open1, shut1}, "make two groups"},
		"mixed by what came since": {[]string{open1, moved}, "make two groups"},
		"none":                     {nil, "must name the memories"},
		"a disabled one":           {[]string{open1, off}, "no enabled memory"},
		"one of somebody else":     {[]string{open1, other.ID}, "no enabled memory"},
		"an unknown one":           {[]string{"mem_no"}, "no enabled memory"},
	} {
		ids, _ := json.Marshal(c.ids)
		if c.ids == nil {
			ids = []byte("[]")
		}
		res, err := r.box.Call(t.Context(), tidying(), "memory-save", fmt.Appendf(nil, `{"content":"%s","importance":"high","supersedes":%s}`, name, ids))
		var fault tool.Fault
		if errors.As(err, &fault) {
			if fault.Status != 400 || !strings.Contains(fault.Say, c.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || !strings.Contains(string(res.Data), `"visibility":"`+c.want+`"`) {
			t.Errorf("%s: %s %v", name, res.Data, err)
		}
	}
	open := Public
	raw, _ := json.Marshal(map[string]any{"memory_id": shut1, "visibility": open})
	var fault tool.Fault
	if _, err := r.box.Call(t.Context(), tidying(), "memory-patch", raw); !errors.As(err, &fault) || fault.Status != 400 {
		t.Error("tidying made something public:", err)
	}
	raw, _ = json.Marshal(map[string]any{"memory_id": shut1, "enabled": false})
	if _, err := r.box.Call(t.Context(), tidying(), "memory-patch", raw); err != nil {
		t.Error(err)
	}
	r.call(turn(chat.Direct, chat.Owner), "memory-save", `{"content":"in a conversation all is as it was","supersedes":["`+open1+`"]}`)
	if lines := strings.Join(r.lines(privateFile), "\n"); !strings.Contains(lines, "in a conversation all is as it was") || strings.Contains(lines, "all public") {
		t.Error(lines)
	}
}

// A turn that finds a note which strangers had a say in, and nobody looked at, falls; one that the owner let in is as
// good as any other.
func TestFindingANoteOfStrangers(t *testing.T) {
	r := newToolRig(t)
	head := "---\norigin: research\nstanding: foreign\nsession: sess_1\n"
	r.note("notes/alone.md", head+"---\n\nferns\n")
	r.note("notes/looked-at.md", head+"admitted: 2026-01-01T00:00:00Z\n---\n\nmoss\n")
	r.note("notes/_index.md", "- plain: lichen\n<!-- research sess_1 2026-01-01 unreviewed https://example.org/ -->\n- alone.md: about algae\n")
	r.note("notes/own.md", "standing: foreign\n\nmushrooms\n")
	for word, want := range map[string]chat.Trust{"ferns": chat.Foreign, "moss": chat.Owner, "algae": chat.Foreign, "mushrooms": chat.Owner, "nothing": chat.Owner} {
		reader := turn(chat.Direct, chat.Owner)
		r.call(reader, "memory-search", `{"query":"`+word+`"}`)
		if got := reader.Standing.Now(); got != want {
			t.Errorf("%s: %v, want %v", word, got, want)
		}
	}
}
