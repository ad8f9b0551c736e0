package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxBody is the longest request that is read, in bytes; pictures come in one.
const maxBody = 64 << 20

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, Request{Path: r.Method + " " + r.URL.Path, Rule: "unknown path"})
		s.mu.Unlock()
		fail(w, Reply{Status: 404, Error: "llmtest: there is no path " + r.URL.Path})
	})
	return mux
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
		Owner  string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list"}
	s.mu.Lock()
	for _, name := range s.script.Models {
		list.Data = append(list.Data, model{name, "model", "llmtest"})
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // the client is gone
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return
	}
	q, err := read(body)
	if err != nil {
		fail(w, Reply{Status: 400, Error: "llmtest: " + err.Error()})
		return
	}
	q.Path = r.Method + " " + r.URL.Path
	reply := s.answer(q, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if reply.Hold != nil {
		select {
		case <-reply.Hold:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case reply.Status != 0:
		fail(w, reply)
	case q.Stream:
		stream(r.Context().Done(), w, q.Model, reply)
	default:
		whole(w, q.Model, reply)
	}
}

func fail(w http.ResponseWriter, reply Reply) {
	if reply.RetryAfter != "" {
		w.Header().Set("Retry-After", reply.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(reply.Status)
	var body struct {
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
		} `json:"error"`
	}
	body.Error.Message, body.Error.Type = reply.Error, "api_error"
	_ = json.NewEncoder(w).Encode(body) // the client is gone
}

// completion is an answer, or a chunk of one.
type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type choice struct {
	Index   int     `json:"index"`
	Message *answer `json:"message,omitempty"`
	Delta   *answer `json:"delta,omitempty"`
	Finish  *string `json:"finish_reason"`
}

type answer struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Input  int `json:"prompt_tokens"`
	Output int `json:"completion_tokens"`
	Total  int `json:"total_tokens"`
}

func (r Reply) usage() *usage {
	return &usage{r.Usage.Input, r.Usage.Output, r.Usage.Input + r.Usage.Output}
}

func (r Reply) finish() *string {
	switch {
	case len(r.ToolCalls) > 0:
		return new("tool_calls")
	case r.Finish != "":
		return new(r.Finish)
	}
	return new("stop")
}

func (r Reply) calls() []toolCall {
	var calls []toolCall
	for i, c := range r.ToolCalls {
		made := toolCall{Index: i, ID: fmt.Sprintf("call_%d_%d", len(c.Name), i), Type: "function"}
		made.Function.Name, made.Function.Arguments = c.Name, c.Arguments
		if c.Arguments == "" {
			made.Function.Arguments = "{}"
		}
		calls = append(calls, made)
	}
	return calls
}

func whole(w http.ResponseWriter, model string, r Reply) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(completion{ID: "chatcmpl-stub", Object: "chat.completion", Created: 1, Model: model,
		Usage: r.usage(), Choices: []choice{{Finish: r.finish(), Message: &answer{Role: "assistant", Content: &r.Text,
			Reasoning: r.Thinking, Calls: r.calls()}}}}) // an error: the client is gone
}
