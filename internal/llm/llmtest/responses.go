package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// This file is OpenAI's responses dialect, which Codex speaks. A tool of a namespace is NAMESPACE.TOOL for scripts.

// What agents speak besides what our own clients do.
const (
	Gemini    = "gemini"    // Gemini's own
	Responses = "responses" // OpenAI's responses
)

// agents adds the dialects that no client of ours speaks.
func (s *Server) agents(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1beta/models/{call}", s.serveGemini)
	mux.HandleFunc("POST /v1/responses", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, Responses, readResponses, speech{streamResponses, wholeResponses})
	})
}

// askedItem is an item of the input of a request.
type askedItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Name    string          `json:"name"`
	Output  json.RawMessage `json:"output"`
}

// readResponses turns the body of a request into what scripts match on.
func readResponses(body []byte) (Request, error) {
	var in struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []struct {
			Type  string `json:"type"`
			Name  string `json:"name"`
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	q := Request{Model: in.Model, Stream: in.Stream, System: in.Instructions, Body: body}
	var items []askedItem
	if json.Unmarshal(in.Input, &q.LastUser) != nil {
		if err := json.Unmarshal(in.Input, &items); err != nil {
			return Request{}, err
		}
	}
	calls := map[string]string{}
	all := []string{q.System, q.LastUser}
	for _, item := range items {
		text, images := item.words()
		all = append(all, text)
		switch {
		case strings.HasSuffix(item.Type, "_call_output"):
			q.AfterTool, q.ToolName, q.ToolResult = true, calls[item.CallID], text
		case strings.HasSuffix(item.Type, "_call"):
			calls[item.CallID] = item.Name
		case item.Role == "user":
			q.LastUser, q.Images, q.AfterTool, q.ToolName, q.ToolResult = text, images, false, "", ""
		case item.Role == "system", item.Role == "developer":
			q.System += text
		}
	}
	q.AllText = strings.Join(all, "\n")
	for _, t := range in.Tools {
		for _, inner := range t.Tools {
			q.Tools = append(q.Tools, t.Name+"."+inner.Name)
		}
		if t.Type != "namespace" {
			q.Tools = append(q.Tools, t.Name)
		}
	}
	return q, nil
}

// words returns the text of an item and how many pictures are in it.
func (i askedItem) words() (text string, images int) {
	raw := i.Content
	if len(i.Output) > 0 {
		raw = i.Output
	}
	if json.Unmarshal(raw, &text) == nil {
		return text, 0
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw), 0
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "input_image" {
			images++
		}
		b.WriteString(p.Text)
	}
	return b.String(), images
}

// sentItem is an item of an answer.
type sentItem struct {
	Type      string     `json:"type"`
	ID        string     `json:"id"`
	Status    string     `json:"status,omitempty"`
	Role      string     `json:"role,omitempty"`
	Content   []sentPart `json:"content,omitempty"`
	Summary   []sentPart `json:"summary,omitempty"`
	CallID    string     `json:"call_id,omitempty"`
	Namespace string     `json:"namespace,omitempty"`
	Name      string     `json:"name,omitempty"`
	Arguments *string    `json:"arguments,omitempty"`
}

type sentPart struct {
	Type        string   `json:"type"`
	Text        string   `json:"text"`
	Annotations []string `json:"annotations"`
}

type sentResponse struct {
	ID     string     `json:"id"`
	Object string     `json:"object"`
	Status string     `json:"status"`
	Model  string     `json:"model"`
	Output []sentItem `json:"output"`
	Usage  *struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage,omitempty"`
}

// sentResponseEvent is an event of a stream; each type has some of the fields.
type sentResponseEvent struct {
	Type     string        `json:"type"`
	Sequence int           `json:"sequence_number"`
	Index    int           `json:"output_index"`
	Content  int           `json:"content_index"`
	Summary  int           `json:"summary_index"`
	ItemID   string        `json:"item_id,omitempty"`
	Item     *sentItem     `json:"item,omitempty"`
	Part     *sentPart     `json:"part,omitempty"`
	Delta    string        `json:"delta,omitempty"`
	Text     string        `json:"text,omitempty"`
	Response *sentResponse `json:"response,omitempty"`
}

// items returns the items of an answer, whole.
func (r Reply) items() []sentItem {
	var list []sentItem
	if r.Thinking != "" {
		list = append(list, sentItem{Type: "reasoning", ID: "rs_stub", Summary: []sentPart{{Type: "summary_text", Text: r.Thinking}}})
	}
	if r.Text != "" || len(r.ToolCalls) == 0 {
		list = append(list, sentItem{Type: "message", ID: "msg_stub", Role: "assistant", Status: "completed",
			Content: []sentPart{{Type: "output_text", Text: r.Text, Annotations: []string{}}}})
	}
	for i, c := range r.ToolCalls {
		item := sentItem{Type: "function_call", ID: fmt.Sprintf("fc_%d", i), CallID: fmt.Sprintf("call_%d", i), Status: "completed",
			Name: c.Name, Arguments: &c.Arguments}
		if c.Arguments == "" {
			item.Arguments = new("{}")
		}
		if space, name, ok := strings.Cut(c.Name, "."); ok {
			item.Namespace, item.Name = space, name
		}
		list = append(list, item)
	}
	return list
}

func (r Reply) response(model, status string, items []sentItem) *sentResponse {
	return &sentResponse{ID: "resp_stub", Object: "response", Status: status, Model: model, Output: items}
}

// ended is a response that is over.
func (r Reply) ended(model string) *sentResponse {
	status := "completed"
	if r.Finish == "length" {
		status = "incomplete"
	}
	a := r.response(model, status, r.items())
	a.Usage = &struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	}{r.Usage.Input, r.Usage.Output, r.Usage.Input + r.Usage.Output}
	return a
}

func wholeResponses(w http.ResponseWriter, model string, r Reply) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(r.ended(model)) // an error: the client is gone
}

func streamResponses(gone <-chan struct{}, w http.ResponseWriter, model string, r Reply) {
	e := newEvents(gone, w, model, r)
	n := 0
	say := func(s sentResponseEvent) {
		s.Sequence = n
		n++
		data, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		e.raw("event: " + s.Type + "\ndata: " + string(data) + "\n\n")
	}
	say(sentResponseEvent{Type: "response.created", Response: r.response(model, "in_progress", []sentItem{})})
	for i, item := range r.items() {
		begun := sentItem{Type: item.Type, ID: item.ID, Role: item.Role, CallID: item.CallID, Namespace: item.Namespace, Name: item.Name}
		say(sentResponseEvent{Type: "response.output_item.added", Index: i, Item: &begun})
		kind, text := "response.output_text.delta", r.Text
		switch item.Type {
		case "reasoning":
			kind, text = "response.reasoning_summary_text.delta", r.Thinking
		case "function_call":
			kind, text = "response.function_call_arguments.delta", *item.Arguments
		}
		for _, p := range pieces(text, r.ChunkSize) {
			e.around(func() { say(sentResponseEvent{Type: kind, Index: i, ItemID: item.ID, Delta: p}) })
		}
		if e.failed {
			return
		}
		say(sentResponseEvent{Type: "response.output_item.done", Index: i, Item: &item})
	}
	final := r.ended(model)
	say(sentResponseEvent{Type: "response." + final.Status, Response: final})
}
