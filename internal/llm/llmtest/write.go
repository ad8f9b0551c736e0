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
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, Chat, read, speech{stream, whole})
	})
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, Messages, readMessages, speech{streamMessages, wholeMessages})
	})
	s.agents(mux)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, Request{Path: r.Method + " " + r.URL.Path, Query: r.URL.RawQuery, Rule: "unknown path"})
		s.mu.Unlock()
		fail(w, Reply{Status: 404, Error: "llmtest: there is no path " + r.URL.Path})
	})
	return mux
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
		Owner  string `json:"owned_by"`
	}
	s.mu.Lock()
	s.listings = append(s.listings, Request{Path: r.Method + " " + r.URL.Path, Query: r.URL.RawQuery, Rule: "models", Keyed: key(r) != ""})
	allowed := s.script.APIKey == "" || key(r) == s.script.APIKey
	s.mu.Unlock()
	if !allowed {
		fail(w, Reply{Status: 401, Error: "llmtest: wrong key"})
		return
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

// speech is how an answer is written in a dialect.
type speech struct {
	stream func(gone <-chan struct{}, w http.ResponseWriter, model string, r Reply)
	whole  func(w http.ResponseWriter, model string, r Reply)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, api string, read func([]byte) (Request, error), say speech) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return
	}
	q, err := read(body)
	if err != nil {
		fail(w, Reply{Status: 400, Error: "llmtest: " + err.Error()})
		return
	}
	q.Path, q.Query, q.API = r.Method+" "+r.URL.Path, r.URL.RawQuery, api
	reply := s.answer(q, key(r))
	if reply.Hold != nil {
		select {
		case <-reply.Hold:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case reply.Drop:
		panic(http.ErrAbortHandler)
	case reply.Redirect != "":
		http.Redirect(w, r, reply.Redirect, http.StatusTemporaryRedirect)
	case reply.Status != 0 && reply.FailAfter == 0:
		fail(w, reply)
	case reply.Raw != "":
		w.Header().Set("Content-Type", reply.RawType)
		_, _ = io.WriteString(w, reply.Raw) // an error: the client is gone
	case q.Stream:
		say.stream(r.Context().Done(), w, q.Model, reply)
	default:
		say.whole(w, q.Model, reply)
	}
}

// key returns the key that came with a request, in the header that either dialect has for it.
func key(r *http.Request) string {
	if k := r.Header.Get("X-Api-Key"); k != "" {
		return k
	}
	if k := r.Header.Get("X-Goog-Api-Key"); k != "" {
		return k
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func fail(w http.ResponseWriter, reply Reply) {
	if reply.RetryAfter != "" {
		w.Header().Set("Retry-After", reply.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(reply.Status)
	_ = json.NewEncoder(w).Encode(failure(reply)) // the client is gone
}

// errorBody is an error in a form that clients of both dialects read.
type errorBody struct {
	Type  string `json:"type"`
	Error struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code,omitempty"`
	} `json:"error"`
}

func failure(reply Reply) errorBody {
	body := errorBody{Type: "error"}
	body.Error.Message, body.Error.Type, body.Error.Code = reply.Error, "api_error", reply.Code
	if reply.Code != "" {
		body.Error.Type = reply.Code
	}
	return body
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
	Thinking  string     `json:"reasoning_content,omitempty"`
	Reasoning string     `json:"reasoning,omitempty"`
	Calls     []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Extra *extra `json:"extra_content,omitempty"`
}

// extra is where Gemini puts the proof of its thinking.
type extra struct {
	Google struct {
		Signature string `json:"thought_signature"`
	} `json:"google"`
}

type usage struct {
	Input   int `json:"prompt_tokens"`
	Output  int `json:"completion_tokens"`
	Total   int `json:"total_tokens"`
	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (r Reply) usage() *usage {
	u := &usage{Input: r.Usage.Input, Output: r.Usage.Output, Total: r.Usage.Input + r.Usage.Output}
	u.Details.Cached = r.Usage.Cached
	return u
}

func (r Reply) thought(text string) answer {
	if r.Reasoning {
		return answer{Reasoning: text}
	}
	return answer{Thinking: text}
}

func (r Reply) finish() *string {
	switch {
	case len(r.ToolCalls) > 0:
		return new("tool_calls")
	case r.Finish == "refusal":
		return new("content_filter")
	case r.Finish != "":
		return new(r.Finish)
	}
	return new("stop")
}

func (r Reply) calls() []toolCall {
	var calls []toolCall
	for i, c := range r.ToolCalls {
		made := toolCall{Index: &i, ID: fmt.Sprintf("call_%d_%d", len(c.Name), i), Type: "function"}
		switch r.Index {
		case Zero:
			made.Index = new(0)
		case None:
			made.Index = nil
		}
		if r.Signature != "" && i == 0 {
			made.Extra = &extra{}
			made.Extra.Google.Signature = r.Signature
		}
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
	message := r.thought(r.Thinking)
	message.Role, message.Content, message.Calls = "assistant", &r.Text, r.calls()
	_ = json.NewEncoder(w).Encode(completion{ID: "chatcmpl-stub", Object: "chat.completion", Created: 1, Model: model,
		Usage: r.usage(), Choices: []choice{{Finish: r.finish(), Message: &message}}}) // an error: the client is gone
}
