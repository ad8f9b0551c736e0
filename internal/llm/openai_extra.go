package llm

import (
	"encoding/base64"
	"encoding/json"
)

// address is a picture as a data address.
func (i Image) address() string {
	return "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// extras adds to a request what the library has no field for: Gemini's proofs, by the ids of their calls.
type extras struct {
	place
	calls map[string]string
}

// proofs finds the proof that stands right before each call.
func proofs(q Question) map[string]string {
	found := map[string]string{}
	for _, m := range q.Messages {
		var proof string
		for _, part := range m.Parts {
			switch part := part.(type) {
			case Thinking:
				proof, _ = proven(googleProof, part.Signature)
			case Call:
				if proof != "" {
					found[part.ID] = proof
				}
				proof = ""
			case Text, Image, Result:
				proof = ""
			}
		}
	}
	return found
}

// fields is an object of which only some fields are looked at.
type fields = map[string]json.RawMessage

func (e extras) add(body []byte) ([]byte, error) {
	if e.id != "gemini" || len(e.calls) == 0 {
		return body, nil
	}
	var request fields
	var sent []fields
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(request["messages"], &sent); err != nil {
		return nil, err
	}
	for _, m := range sent {
		if len(m["tool_calls"]) == 0 {
			continue
		}
		changed, err := e.addTo(m["tool_calls"])
		if err != nil {
			return nil, err
		}
		m["tool_calls"] = changed
	}
	var err error
	if request["messages"], err = json.Marshal(sent); err != nil {
		return nil, err
	}
	return json.Marshal(request)
}

func (e extras) addTo(calls json.RawMessage) (json.RawMessage, error) {
	var list []fields
	if err := json.Unmarshal(calls, &list); err != nil {
		return nil, err
	}
	for _, call := range list {
		var id string
		if err := json.Unmarshal(call["id"], &id); err != nil {
			return nil, err
		}
		proof, ok := e.calls[id]
		if !ok {
			continue
		}
		var extra chatExtra
		extra.Google.Signature = proof
		var err error
		if call["extra_content"], err = json.Marshal(extra); err != nil {
			return nil, err
		}
	}
	return json.Marshal(list)
}

// strict reports whether a schema keeps the rules under which OpenAI promises to follow it to the letter: every object
// closed, and every field of it required.
func strict(schema json.RawMessage) bool {
	var node struct {
		Type       json.RawMessage            `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		More       *bool                      `json:"additionalProperties"`
		Items      json.RawMessage            `json:"items"`
		AnyOf      []json.RawMessage          `json:"anyOf"`
		AllOf      []json.RawMessage          `json:"allOf"`
		OneOf      []json.RawMessage          `json:"oneOf"`
		Defs       map[string]json.RawMessage `json:"$defs"`
	}
	if json.Unmarshal(schema, &node) != nil || node.AllOf != nil || node.OneOf != nil {
		return false
	}
	if string(node.Type) == `"object"` && (node.More == nil || *node.More || len(node.Required) != len(node.Properties)) {
		return false
	}
	inner := node.AnyOf
	if node.Items != nil {
		inner = append(inner, node.Items)
	}
	for _, p := range node.Properties {
		inner = append(inner, p)
	}
	for _, d := range node.Defs {
		inner = append(inner, d)
	}
	for _, s := range inner {
		if !strict(s) {
			return false
		}
	}
	return true
}
