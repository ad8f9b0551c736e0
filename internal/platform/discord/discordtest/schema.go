package discordtest

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// published is what Discord publishes of the requests and answers, as JSON Schema; tools/discord/schema.mjs
// writes it.
//
//go:embed schema/*.json
var published embed.FS

// schemas are the same, by name, ready to be held against something.
type schemas map[string]*jsonschema.Schema

// load reads them, once: it takes its time.
var load = sync.OnceValues(func() (schemas, error) {
	compiler, out := jsonschema.NewCompiler(), schemas{}
	files, err := fs.Glob(published, "schema/*.json")
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		text, err := published.ReadFile(path)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if err := compiler.AddResource(path, doc); err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, "schema/"), ".json")
		if out[name], err = compiler.Compile(path); err != nil {
			return nil, fmt.Errorf("compile %s: %w", path, err)
		}
	}
	return out, nil
})

// check holds a text against a schema.
func (s schemas) check(name string, text []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s[name].Validate(doc)
}
