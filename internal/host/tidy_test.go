package host

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/memory"
)

// A round of tidying from its prompt to the files: the summary of a public memory is public, and what it sums up is
// switched off.
func TestTidyingKeepsTheSidesApart(t *testing.T) {
	r, _ := initiative(t, func(c *config.Config) { c.Companion.MemoryMaintenance.MinMemoryCount = 10 })
	call := func(name, args string) script.Step { return script.Step{Call: name, Args: json.RawMessage(args)} }
	r.agent.Agent = script.New(script.Script{Find: `mem_[a-z0-9]+_[a-z0-9]+`, Turns: []script.Turn{{Steps: []script.Step{
		call("memory-save", `{"content":"without a group","importance":"high"}`),
		call("memory-save", `{"content":"the summary","importance":"high","supersedes":["{{found}}"]}`),
		call("memory-patch", `{"memory_id":"{{found}}","enabled":false}`),
		call("send-reply", `{"message":"nobody asked"}`),
	}}}})
	ann := chat.Person{Platform: "net", ID: "ann"}
	var last memory.Memory
	for i := range 10 {
		var err error
		if last, err = r.memory.Save(t.Context(), ann, i < 5, memory.Draft{Content: fmt.Sprint("fact ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.tidyAll(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	all, err := r.memory.All(t.Context(), ann, true)
	if err != nil || len(all) != 11 {
		t.Fatalf("%d memories, %v\n%s", len(all), err, r.log)
	}
	for _, m := range all {
		switch {
		case m.ID == last.ID && (m.Enabled || m.Visibility != memory.Public), m.Content == "the summary" && m.Visibility != memory.Public, m.Content == "without a group":
			t.Errorf("%+v", m)
		}
	}
	if said := r.net.said(); len(said) != 0 {
		t.Error(said)
	}
}
