package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	yaml "go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "rewrite the committed documents")

// The committed documents are what this package would write now; go test ./internal/config -update renews them.
func TestDocumentsAreUpToDate(t *testing.T) {
	for path, want := range map[string]string{
		"../../config.example.yaml":   Example(),
		"../../docs/configuration.md": Reference(),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is out of date; run: go test ./internal/config -update", filepath.Clean(path))
		}
	}
}

func TestExampleLoadsToTheDefaults(t *testing.T) {
	l := good(t, Example())
	if len(l.Warnings) > 0 {
		t.Errorf("warnings: %v", l.Warnings)
	}
	want := Defaults()
	if got, want := flow(reflect.ValueOf(l.Config)), flow(reflect.ValueOf(want)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A mapping inside the entry of a list is written out key by key, too.
func TestTheDocumentsSayWhatEachKeyIs(t *testing.T) {
	for row := range strings.Lines(Reference()) {
		if cells := strings.Split(row, " | "); strings.HasPrefix(row, "| `") && strings.TrimSpace(cells[3]) == "" {
			t.Errorf("the reference says nothing about %s", cells[0])
		}
	}
	for line := range strings.Lines(Example()) {
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "#") && strings.HasSuffix(text, ":") && !strings.Contains(text, " as ") {
			t.Errorf("the example says nothing behind %q", text)
		}
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	var walk func(reflect.Type, string)
	walk = func(typ reflect.Type, prefix string) {
		for _, f := range fields(typ) {
			if f.doc == "" && !isSection(f.typ) {
				t.Errorf("%s has no doc", join(prefix, f.name))
			}
			inner := f.typ
			if entry := entryOf(inner); entry != nil {
				inner = entry
			}
			if isSection(inner) {
				walk(inner, join(prefix, f.name))
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	raw, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchema(t *testing.T) {
	s := compiled(t)
	for text, valid := range map[string]bool{
		Example(): true,
		"version: 1\nserver: {port: \"${PORT}\"}\nbot: {owner: {discord: \"1\", web: [a]}}": true,
		"access: {channels: [web/account/a, {id: web/account/b, enabled: false}]}":          true,
		"access: {replyPloicy: all}":                 false,
		"server: {port: high}":                       false,
		"access: {channels: [{id: a, enabeld: x}]}":  false,
		"platforms: {discord: {allowDM: true}}":      false,
		"platforms: {discord: {guildIds: a}}":        false,
		"companion: {reminders: {enabled: soon}}":    false,
		"companion: {selfResearch: {rssFeeds: [a]}}": false,
		"skill: {sendFile: {maxFileSizeMb: [1]}}":    false,
		"gitBackup: {intervalMs: 0.5}":               false,
		"audit: {includedPhases: {a: 1}}":            false,
		"bot: []":                                    false,
		"[]":                                         false,
		"companion: {selfResearch: {rssFeeds: [{url: \"https://example.org/\", name: x}]}}": true,
		"platforms: {web: null, discord: {enabled: \"${ON}\", guildIds: [\"1\", 2]}}":       true,
	} {
		var parsed any
		if err := yaml.Load([]byte(text), &parsed); err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(parsed)
		if err != nil {
			t.Fatal(err)
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(instance); (err == nil) != valid {
			t.Errorf("valid is %v for %.60q: %v", err == nil, text, err)
		}
	}
}

func TestShowNamesOrigins(t *testing.T) {
	dir := lay(t, map[string]string{
		"config.yaml":             "version: 1\nserver:\n  port: 1\nbot: {name: true-name}\n",
		"config.development.yaml": "server: {shutdownMs: 5}\n",
	})
	l, err := Load(Where{Dir: dir, Set: []Override{{"flag --desk", "bot.desk", "companion"}}}, []string{"REPLY_POLICY=all"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := l.Show(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  port: 1  # " + filepath.Join(dir, "config.yaml") + ":3:9\n",
		"  shutdownMs: 5  # " + filepath.Join(dir, "config.development.yaml") + ":1:22\n",
		"  replyPolicy: all  # environment REPLY_POLICY\n",
		"  desk: companion  # flag --desk\n",
		"  host: \"127.0.0.1\"  # default\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	if _, err := load(t, b.String()); err != nil {
		t.Errorf("what is shown does not load: %v", err)
	}
	for _, s := range l.Settings() {
		if !json.Valid(s.Value) {
			t.Errorf("%s: %s is not JSON", s.Path, s.Value)
		}
	}
}
