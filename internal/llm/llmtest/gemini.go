package llmtest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// This file is Gemini's own dialect, which its command line speaks.

// geminiPart is a piece of a content, in requests and in answers.
type geminiPart struct {
	Text      *string           `json:"text,omitempty"`
	Thought   bool              `json:"thought,omitempty"`
	Signature string            `json:"thoughtSignature,omitempty"`
	Inline    *json.RawMessage  `json:"inlineData,omitempty"`
	Call      *geminiCall       `json:"functionCall,omitempty"`
	Result    *geminiCallResult `json:"functionResponse,omitempty"`
}

type geminiCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type geminiCallResult struct {
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

// words returns the text of a content and how many pictures are in it.
func (c geminiContent) words() (text string, images int) {
	var b strings.Builder
	for _, p := range c.Parts {
		if p.Text != nil {
			b.WriteString(*p.Text)
		}
		if p.Inline != nil {
			images++
		}
	}
	return b.String(), images
}

// readGemini turns the body of a request into what scripts match on.
func readGemini(body []byte) (Request, error) {
	var in struct {
		Contents []geminiContent `json:"contents"`
		System   geminiContent   `json:"systemInstruction"`
		Tools    []struct {
			Functions []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	q := Request{Body: body}
	q.System, _ = in.System.words()
	all := []string{q.System}
	for _, c := range in.Contents {
		text, images := c.words()
		all = append(all, text)
		if c.Role == "model" {
			continue
		}
		if text != "" || images > 0 {
			q.LastUser, q.Images, q.AfterTool, q.ToolName, q.ToolResult = text, images, false, "", ""
		}
		for _, p := range c.Parts {
			if p.Result != nil {
				q.AfterTool, q.ToolName, q.ToolResult = true, p.Result.Name, string(p.Result.Response)
				all = append(all, q.ToolResult)
			}
		}
	}
	q.AllText = strings.Join(all, "\n")
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			q.Tools = append(q.Tools, f.Name)
		}
	}
	return q, nil
}

type geminiAnswer struct {
	Candidates []geminiCandidate `json:"candidates"`
	Model      string            `json:"modelVersion"`
	ID         string            `json:"responseId"`
	Usage      struct {
		Input  int `json:"promptTokenCount"`
		Output int `json:"candidatesTokenCount"`
		Total  int `json:"totalTokenCount"`
	} `json:"usageMetadata"`
}

type geminiCandidate struct {
	Index   int           `json:"index"`
	Content geminiContent `json:"content"`
	Finish  string        `json:"finishReason,omitempty"`
}

func (r Reply) gemini(model, finish string, parts ...geminiPart) geminiAnswer {
	a := geminiAnswer{Candidates: []geminiCandidate{{Content: geminiContent{Role: "model", Parts: parts}, Finish: finish}}, Model: model, ID: "stub"}
	a.Usage.Input, a.Usage.Output, a.Usage.Total = r.Usage.Input, r.Usage.Output, r.Usage.Input+r.Usage.Output
	return a
}

// geminiCalls returns the calls as parts; an answer without any still has a part.
func (r Reply) geminiCalls() []geminiPart {
	var parts []geminiPart
	for _, c := range r.ToolCalls {
		args := json.RawMessage(c.Arguments)
		if c.Arguments == "" {
			args = json.RawMessage("{}")
		}
		parts = append(parts, geminiPart{Signature: "c3R1Yg==", Call: &geminiCall{Name: c.Name, Args: args}})
	}
	if parts == nil {
		parts = []geminiPart{{Text: new("")}}
	}
	return parts
}

func (r Reply) geminiFinish() string {
	switch r.Finish {
	case "length":
		return "MAX_TOKENS"
	case "refusal":
		return "SAFETY"
	}
	return "STOP"
}

func wholeGemini(w http.ResponseWriter, model string, r Reply) {
	parts := r.geminiCalls()
	if r.Text != "" {
		parts = append([]geminiPart{{Text: &r.Text}}, parts...)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(r.gemini(model, r.geminiFinish(), parts...)) // an error: the client is gone
}

func streamGemini(gone <-chan struct{}, w http.ResponseWriter, model string, r Reply) {
	e := newEvents(gone, w, model, r)
	say := func(a geminiAnswer) {
		data, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		e.raw("data: " + string(data) + "\r\n\r\n")
	}
	for _, p := range pieces(r.Thinking, r.ChunkSize) {
		e.around(func() { say(r.gemini(model, "", geminiPart{Text: &p, Thought: true})) })
	}
	for _, p := range pieces(r.Text, r.ChunkSize) {
		e.around(func() { say(r.gemini(model, "", geminiPart{Text: &p})) })
	}
	if !e.failed {
		say(r.gemini(model, r.geminiFinish(), r.geminiCalls()...))
	}
}

// serveGemini answers models/NAME:VERB, where the verb says whether the answer is a stream.
func (s *Server) serveGemini(w http.ResponseWriter, r *http.Request) {
	model, verb, _ := strings.Cut(r.PathValue("call"), ":")
	switch verb {
	case "countTokens":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"totalTokens":1}`)) // an error: the client is gone
	case "generateContent", "streamGenerateContent":
		s.serve(w, r, Gemini, func(body []byte) (Request, error) {
			q, err := readGemini(body)
			q.Model, q.Stream = model, verb == "streamGenerateContent"
			return q, err
		}, speech{streamGemini, wholeGemini})
	default:
		fail(w, Reply{Status: 404, Error: "llmtest: there is no call " + verb})
	}
}
