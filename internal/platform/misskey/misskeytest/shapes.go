package misskeytest

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// published is made by tools/misskey/shapes.mjs.
//
//go:embed shapes.json
var published []byte

// definitions are the published shapes by name: request_…, answer_…, event_….
var definitions = sync.OnceValue(func() *jsonschema.Schema {
	var all jsonschema.Schema
	if err := json.Unmarshal(published, &all); err != nil {
		panic(err)
	}
	return &all
})

// resolved are the shapes that were asked for: to resolve one takes long.
var resolved sync.Map

// shapeOf returns a shape; one that is not published is nowhere's.
func shapeOf(name string) *jsonschema.Resolved {
	if known, ok := resolved.Load(name); ok {
		return known.(*jsonschema.Resolved)
	}
	all := definitions()
	if all.Definitions[name] == nil {
		return nowhere
	}
	r, err := (&jsonschema.Schema{Ref: "#/definitions/" + name, Definitions: needed(all, name), Schema: all.Schema}).Resolve(nil)
	if err != nil {
		panic(err)
	}
	resolved.Store(name, r)
	return r
}

// needed returns copies of a definition and of those that it names, since to resolve one changes it.
func needed(all *jsonschema.Schema, name string) map[string]*jsonschema.Schema {
	found := map[string]*jsonschema.Schema{}
	var add func(name string)
	add = func(name string) {
		if found[name] != nil {
			return
		}
		copied := all.Definitions[name].CloneSchemas()
		found[name] = copied
		for _, m := range reference.FindAllSubmatch(mustJSON(copied), -1) {
			add(string(m[1]))
		}
	}
	add(name)
	return found
}

var reference = regexp.MustCompile(`"#/definitions/(\w+)"`)

var noWord = regexp.MustCompile(`\W`)

// check holds a value against a published shape. What is not published for a path must be empty.
func check(kind, path string, raw json.RawMessage) error {
	shape := shapeOf(kind + "_" + noWord.ReplaceAllString(path, "_"))
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return shape.Validate(v)
}

// nowhere is the shape of parameters where there are none.
var nowhere = func() *jsonschema.Resolved {
	r, err := (&jsonschema.Schema{Type: "object", MaxProperties: new(int)}).Resolve(nil)
	if err != nil {
		panic(err)
	}
	return r
}()
