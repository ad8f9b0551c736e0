package acp

import (
	"log/slog"
	"strings"
	"testing"

	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
)

const (
	withOptions = `{"configOptions":[{"type":"slider","id":"x","category":"model"},
		{"type":"select","id":"m","name":"M","category":"model","currentValue":"m1","options":[{"value":"m1","name":"1"},{"value":"m2","name":"2"}]},
		{"type":"select","id":"mo","name":"Mode","category":"mode","currentValue":"build","options":[{"group":"g","name":"G","options":[{"value":"build","name":"b"},{"value":"yolo","name":"y"}]}]}],
		"models":{"availableModels":[{"modelId":"m1"},{"modelId":"m2"}],"currentModelId":"m1"}}`
	withModes = `{"modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"a"},{"id":"yolo","name":"y"}]},
		"models":{"availableModels":[{"modelId":"m1"},{"modelId":"m2"}],"currentModelId":"m1"}}`
)

// BUG-D27 AF-114: model and mode are set by the best way that the agent has, and only to what it offers.
func TestModelAndMode(t *testing.T) {
	for name, c := range map[string]struct {
		offers, model, mode string
		sent                []string // methods and a part of their parameters, in order
		ignores             bool     // the agent answers with what it had
		fails               string
		warns               bool
		unwalled            bool
	}{
		"options first":         {offers: withOptions, model: "m2", mode: "yolo", sent: []string{`session/set_config_option {"configId":"m",`, `session/set_config_option {"configId":"mo",`}},
		"modes and models":      {offers: withModes, model: "m2", mode: "yolo", sent: []string{`session/set_model {"sessionId":`, `session/set_mode {"modeId":"yolo"`}},
		"what is set already":   {offers: withOptions, model: "m1"},
		"nothing to choose":     {},
		"taken, and not set":    {offers: withOptions, model: "m2", ignores: true, fails: `stays with "m1"`},
		"a mistyped model":      {offers: withOptions, model: "m3", fails: `"m3" is not offered by the agent; it offers m1, m2`},
		"a model, and no way":   {model: "m1", fails: "does not let it be chosen"},
		"AF-114 no modes":       {mode: "yolo", warns: true},
		"without walls":         {offers: withModes, mode: "yolo", warns: true, unwalled: true},
		"AF-114 a missing mode": {offers: strings.ReplaceAll(withModes, "yolo", "wild"), mode: "yolo", warns: true},
	} {
		t.Run(name, func(t *testing.T) {
			var log records
			a := scripted(t, quick(), script.Script{Moods: script.Moods{New: []byte(c.offers), Keep: c.ignores}, Turns: []script.Turn{
				{Steps: []script.Step{{Heard: true}, {Ask: script.AlwaysFirst()}}}}}, func(d *Deps) { d.Log = log.logger() })
			a.unwalled = c.unwalled
			o := opening("ann")
			o.Model, o.Mode = c.model, c.mode
			s, err := a.Open(t.Context(), o)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("opened with %v, want %s", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			w := &agenttest.Watch{}
			if _, err := prompt(t.Context(), s, w, "go"); err != nil {
				t.Fatal(err)
			}
			var sent []string
			for _, line := range strings.Split(w.Said(), "\n") {
				if strings.HasPrefix(line, "session/set_") {
					sent = append(sent, line)
				}
			}
			if len(sent) != len(c.sent) {
				t.Fatalf("sent %q, want %q", sent, c.sent)
			}
			for i := range sent {
				if !strings.HasPrefix(sent[i], c.sent[i]) {
					t.Errorf("sent %s, want %s", sent[i], c.sent[i])
				}
			}
			if warned := len(log.at(slog.LevelWarn)) > 0; warned != c.warns || len(w.Asks()) != 1 {
				t.Errorf("warned: %t, want %t; asked %d times", warned, c.warns, len(w.Asks()))
			}
		})
	}
}
