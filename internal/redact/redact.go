// Package redact copies JSON with some of its values replaced: by the name that they have, or by what their text
// is. Everything else stays as it was, in its order. The audit hides what people said with it, the log secrets.
package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Rules say what to replace. A nil rule replaces nothing. Both may be called often and must not block.
type Rules struct {
	// Field is asked for the name of every field, at any depth. Unless it returns nil, what it returned is given
	// the value, as compact JSON, and says the text that stands in its place.
	Field func(name string) func(value json.RawMessage) string
	// Text is given every other string, at any depth, and returns what stands in its place.
	Text func(string) string
}

// JSON returns data rewritten by the rules, compact. It is an error when data is not one JSON value.
func (r Rules) JSON(data []byte) (json.RawMessage, error) {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	w := writer{rules: r, in: in}
	if err := w.value(); err != nil {
		return nil, fmt.Errorf("redact: %w", err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("redact: there is something after the JSON value")
	}
	return w.out.Bytes(), nil
}

type writer struct {
	rules Rules
	in    *json.Decoder
	out   bytes.Buffer
	depth int
}

// maxDepth ends a value that is nested to exhaust the stack.
const maxDepth = 1000

func (w *writer) value() error {
	token, err := w.in.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		if w.depth++; w.depth > maxDepth {
			return errors.New("the value is nested too deep")
		}
		defer func() { w.depth-- }()
		if token == '{' {
			return w.members('{', '}', w.field)
		}
		return w.members('[', ']', w.value)
	case string:
		if w.rules.Text != nil {
			token = w.rules.Text(token)
		}
		w.text(token)
	case json.Number:
		w.out.WriteString(token.String())
	case bool:
		fmt.Fprint(&w.out, token)
	case nil:
		w.out.WriteString("null")
	}
	return nil
}

// members copies an object or a list, whose opening was read, up to its end.
func (w *writer) members(open, end byte, one func() error) error {
	w.out.WriteByte(open)
	for first := true; w.in.More(); first = false {
		if !first {
			w.out.WriteByte(',')
		}
		if err := one(); err != nil {
			return err
		}
	}
	if _, err := w.in.Token(); err != nil {
		return err
	}
	w.out.WriteByte(end)
	return nil
}

func (w *writer) field() error {
	token, err := w.in.Token()
	if err != nil {
		return err
	}
	name, _ := token.(string) // the decoder takes nothing else here
	w.text(name)
	w.out.WriteByte(':')
	if w.rules.Field == nil {
		return w.value()
	}
	replace := w.rules.Field(name)
	if replace == nil {
		return w.value()
	}
	var value json.RawMessage
	if err := w.in.Decode(&value); err != nil {
		return err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		return err
	}
	w.text(replace(compact.Bytes()))
	return nil
}

// text writes a JSON string.
func (w *writer) text(text string) {
	enc := json.NewEncoder(&w.out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always can be encoded
	w.out.Truncate(w.out.Len() - 1)
}
