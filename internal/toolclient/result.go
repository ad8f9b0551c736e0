package toolclient

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	mostImages = 4       // of one result
	mostImage  = 5 << 20 // bytes of one
)

// cut stands at the end of a text that was too long.
const cut = " […]"

// read takes a server's answer down to what a model can be shown.
func read(answer *mcp.CallToolResult, most int) Result {
	r := Result{Failed: answer.IsError}
	var b strings.Builder
	add := func(text string) {
		if text == "" || b.Len() > most {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	for _, c := range answer.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			add(c.Text)
		case *mcp.ImageContent:
			if len(r.Images) < mostImages && len(c.Data) <= mostImage {
				r.Images = append(r.Images, Image{MIME: c.MIMEType, Data: c.Data})
			}
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				add(c.Resource.Text)
			}
		case *mcp.ResourceLink:
			add(c.URI)
		}
	}
	if b.Len() == 0 && answer.StructuredContent != nil {
		if data, err := json.Marshal(answer.StructuredContent); err == nil {
			add(string(data))
		}
	}
	r.Text = Shorten(b.String(), most)
	return r
}

// Shorten cuts a text to so many bytes, between two characters, and makes it valid UTF-8.
func Shorten(text string, most int) string {
	if len(text) > most {
		end := most
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + cut
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// checker makes the check of a tool's input. A schema that we do not understand checks only that there is an object:
// the server knows better.
func checker(params json.RawMessage) func(json.RawMessage) error {
	var schema jsonschema.Schema
	var resolved *jsonschema.Resolved
	if json.Unmarshal(params, &schema) == nil {
		resolved, _ = schema.Resolve(nil)
	}
	return func(input json.RawMessage) error {
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		var value map[string]any
		if err := json.Unmarshal(input, &value); err != nil {
			return err
		}
		if value == nil {
			return errors.New("not a JSON object")
		}
		if resolved == nil {
			return nil
		}
		return resolved.Validate(value)
	}
}
