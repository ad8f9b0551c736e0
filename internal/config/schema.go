package config

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// schema is the part of JSON Schema that the configuration needs.
type schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        []string           `json:"type,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	AnyOf       []*schema          `json:"anyOf,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Additional  json.RawMessage    `json:"additionalProperties,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Default     json.RawMessage    `json:"default,omitempty"`
}

// Schema returns the JSON Schema of a configuration file, for editors. It is a little more lenient than the check:
// it knows types and names, not ranges.
func Schema() ([]byte, error) {
	s, err := schemaOf(reflect.ValueOf(Defaults()))
	if err != nil {
		return nil, fmt.Errorf("describe configuration: %w", err)
	}
	s.Dialect, s.Title = "https://json-schema.org/draft/2020-12/schema", "Familiar configuration, version 1"
	return json.MarshalIndent(s, "", "  ")
}

// reset allows null everywhere: it brings the default back.
func reset(types ...string) []string { return append(types, "null") }

// schemaOf describes the type of v; its value is the default.
func schemaOf(v reflect.Value) (*schema, error) {
	t := v.Type()
	switch {
	case isSecret(t):
		return &schema{Type: reset("string", "number")}, nil
	case t.Kind() == reflect.Struct:
		return objectOf(v)
	case t.Kind() == reflect.Map:
		of, err := schemaOf(reflect.New(t.Elem()).Elem())
		if err != nil {
			return nil, err
		}
		additional, err := json.Marshal(of)
		return &schema{Type: reset("object"), Additional: additional}, err
	case t.Kind() == reflect.Slice:
		of, err := schemaOf(reflect.New(t.Elem()).Elem())
		if err != nil {
			return nil, err
		}
		return orText(t, &schema{Type: reset("array"), Items: of}), nil
	case t.Kind() == reflect.Bool:
		return orVariable("boolean"), nil
	case t.Kind() == reflect.Float64:
		return orVariable("number"), nil
	case v.CanInt():
		return orVariable("integer"), nil
	}
	return &schema{Type: reset("string", "number")}, nil
}

func objectOf(v reflect.Value) (*schema, error) {
	s := &schema{Type: reset("object"), Properties: make(map[string]*schema), Additional: json.RawMessage("false")}
	for _, f := range fields(v.Type()) {
		value := v.FieldByIndex(f.index)
		of, err := schemaOf(value)
		if err != nil {
			return nil, err
		}
		of.Description = f.doc
		if !isSection(f.typ) && !isSecret(f.typ) {
			of.Default = json.RawMessage(flow(value))
		}
		s.Properties[f.name] = of
	}
	return orText(v.Type(), s), nil
}

// orText allows a plain text beside s, for types that take one.
func orText(t reflect.Type, s *schema) *schema {
	if !readsText(t) {
		return s
	}
	return &schema{AnyOf: []*schema{s, {Type: []string{"string", "number"}}}}
}

// orVariable allows ${NAME} where a number or a switch is expected.
func orVariable(name string) *schema {
	return &schema{AnyOf: []*schema{{Type: reset(name)}, {Type: []string{"string"}, Pattern: `\$\{`}}}
}
