package deploy

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v4"
)

// values are what an operator writes beside the chart's own.
type values map[string]any

// render renders the chart as Helm does, with the functions that it uses; `make chart` asks the real one.
func render(t *testing.T, set values) []byte {
	t.Helper()
	root := template.New("chart").Option("missingkey=error")
	root.Funcs(functions(root))
	files, err := filepath.Glob("chart/templates/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		template.Must(root.New("chart/templates/" + filepath.Base(file)).Parse(string(text)))
	}
	var of values
	decode(t, read(t, "chart/values.yaml"), &of)
	for name, value := range set {
		of[name] = value
	}
	data := map[string]any{"Values": of, "Release": map[string]any{"Name": "bot", "Service": "Helm"},
		"Chart":    map[string]any{"Name": "familiar", "Version": "0.1.0", "AppVersion": "0.1.0"},
		"Template": map[string]any{"BasePath": "chart/templates"}}
	var out bytes.Buffer
	for _, file := range files {
		if strings.HasSuffix(file, ".tpl") {
			continue
		}
		out.WriteString("\n---\n")
		if err := root.ExecuteTemplate(&out, "chart/templates/"+filepath.Base(file), data); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// functions are those of Helm that the chart uses.
func functions(root *template.Template) template.FuncMap {
	toYAML := func(v any) (string, error) {
		text, err := yaml.Marshal(v)
		return strings.TrimSpace(string(text)), err
	}
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := root.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"toYaml": toYAML,
		"toJson": func(v any) (string, error) { text, err := json.Marshal(v); return string(text), err },
		"nindent": func(n int, text string) string {
			pad := "\n" + strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(text, "\n", pad)
		},
		"default": func(fallback, v any) any {
			if v == nil || v == "" {
				return fallback
			}
			return v
		},
		"dict": func(pairs ...any) map[string]any {
			m := map[string]any{}
			for i := 0; i+1 < len(pairs); i += 2 {
				m[pairs[i].(string)] = pairs[i+1]
			}
			return m
		},
		"join": func(sep string, list []any) string {
			words := make([]string, len(list))
			for i, v := range list {
				words[i] = fmt.Sprint(v)
			}
			return strings.Join(words, sep)
		},
		"quote":      func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"toString":   func(v any) string { return fmt.Sprint(v) },
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix": func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"contains":   func(part, s string) bool { return strings.Contains(s, part) },
		"replace":    func(from, to, s string) string { return strings.ReplaceAll(s, from, to) },
		"sha256sum":  func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// decode reads one document; a key that the type does not know is an error.
func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.Load(text, into, yaml.WithKnownFields()); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// objects reads what was rendered, by kind and name.
func objects(t *testing.T, rendered []byte) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for _, doc := range bytes.Split(rendered, []byte("\n---\n")) {
		var head struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		if err := yaml.Load(doc, &head); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if head.Kind == "" || head.Metadata.Name == "" {
			t.Fatalf("no object:\n%s", doc)
		}
		found[head.Kind+"/"+head.Metadata.Name] = doc
	}
	return found
}
