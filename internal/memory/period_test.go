package memory

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"familiar/internal/chat"
)

func TestPeriod(t *testing.T) {
	zone := time.FixedZone("Taipei", 8*3600)
	for _, c := range []struct{ since, until, from, to string }{
		{"", "", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
		{"2026-01-31", "2026-01-31", "2026-01-30T16:00:00Z", "2026-01-31T16:00:00Z"},
		{"2026-01-31T10:00", "2026-01-31T12:00:00Z", "2026-01-31T02:00:00Z", "2026-01-31T12:00:00Z"},
	} {
		from, to, err := Period(c.since, c.until, zone)
		if got := from.UTC().Format(time.RFC3339); err != nil || got != c.from {
			t.Errorf("since %s: %s, %v", c.since, got, err)
		}
		if got := to.UTC().Format(time.RFC3339); got != c.to {
			t.Errorf("until %s: %s", c.until, got)
		}
	}
	for _, wrong := range [][2]string{{"yesterday", ""}, {"", "2026-13-01"}, {"2026-02-01", "2026-01-31"}} {
		if _, _, err := Period(wrong[0], wrong[1], zone); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// What is left out by its time or importance takes no place among those that are told.
func TestFiltersCountBeforeTheLimit(t *testing.T) {
	r := newToolRig(t)
	r.write(publicFile, memoryLine("mem_a", "2026-01-30T12:00:00.000Z", "public", "high", "tea 1"),
		memoryLine("mem_b", "2026-01-31T12:00:00.000Z", "public", "normal", "tea 2"),
		memoryLine("mem_c", "2026-02-01T12:00:00.000Z", "public", "normal", "tea 3"))
	for args, want := range map[string]string{
		`{"query":"tea","limit":1,"until":"2026-01-31T13:00:00Z"}`: "mem_b", `{"query":"tea","limit":1,"until":"2026-01-31T12:00:00Z"}`: "mem_a",
		`{"query":"tea","limit":1,"since":"2026-01-30T00:00:00Z","until":"2026-01-31T00:00:00Z"}`: "mem_a",
	} {
		var got found
		if err := json.Unmarshal([]byte(r.call(turn(chat.Direct, chat.Owner), "memory-search", args)), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Memories) != 1 || got.Memories[0].ID != want {
			t.Errorf("%s: %v", args, got.Memories)
		}
	}
	r.want("important", r.texts(r.Find(t.Context(), ann, false, Query{Words: "tea", Limit: 1, Importance: High})), "tea 1")
	if _, err := r.Find(t.Context(), ann, false, Query{Words: "tea", Importance: "urgent"}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}
