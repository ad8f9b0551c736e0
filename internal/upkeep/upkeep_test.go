package upkeep

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"familiar/internal/setting"
)

// AF-169
func TestNeeds(t *testing.T) {
	c := Defaults()
	if c.Needs(9) || c.Needs(49) || !c.Needs(50) {
		t.Error("9, 49, 50:", c.Needs(9), c.Needs(49), c.Needs(50))
	}
}

// AF-21
func TestLeastValues(t *testing.T) {
	c := Config{Model: "m", Enabled: true, MinMemoryCount: 3, IntervalMs: 5}
	var r setting.Report
	c.Check(r.At("companion.memoryMaintenance"))
	if c.MinMemoryCount != 10 || c.IntervalMs != 3_600_000 || !c.Enabled {
		t.Errorf("%+v", c)
	}
}

func TestDump(t *testing.T) {
	text, err := Dump([]Memory{{ID: "mem_1", Visibility: "public", Importance: "high", Content: "likes <tea> & 茶", CreatedAt: time.Unix(1_800_000_000, 0).UTC()}})
	if err != nil || !strings.Contains(text, "likes <tea> & 茶") {
		t.Fatal(text, err)
	}
	var back []map[string]string
	if err := json.Unmarshal([]byte(text), &back); err != nil || len(back) != 1 || back[0]["id"] != "mem_1" ||
		back[0]["visibility"] != "public" || back[0]["createdAt"] != "2027-01-15T08:00:00Z" {
		t.Error(back, err)
	}
	if text, err := Dump(nil); err != nil || !strings.HasPrefix(text, "There are no memories") {
		t.Error(text, err)
	}
}
