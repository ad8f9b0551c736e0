// Package llmtest is a scripted stand-in for a model provider, for tests. It holds no model: a script says what to
// answer. It listens on loopback only and speaks OpenAI's chat completions and Anthropic's messages, streaming and not,
// and the list of models of both. A script may be in every mood of a provider: slow, cut off, garbled, refusing. Every
// request is kept, so that a test can see what a model would have read; keys are not.
package llmtest

import (
	"net/http/httptest"
	"sync"
	"testing"
)

// Server answers from a script. Safe for concurrent use.
type Server struct {
	http *httptest.Server

	mu       sync.Mutex
	script   Script
	used     map[int]int // rule → how often it answered
	requests []Request
	listings []Request
}

// Start serves a script until the test ends. A script that cannot be used fails the test.
func Start(t testing.TB, script Script) *Server {
	t.Helper()
	s := &Server{}
	s.Play(t, script)
	s.http = httptest.NewServer(s.routes())
	t.Cleanup(s.http.Close)
	return s
}

// URL is the base address that a client is given: http://127.0.0.1:PORT/v1. Anthropic's clients want it without /v1.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Play puts another script in place, and forgets what was asked.
func (s *Server) Play(t testing.TB, script Script) {
	t.Helper()
	if err := script.compile(); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.used, s.requests = script, map[int]int{}, nil
}

// Requests returns what was asked so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Listings returns the requests for the list of models, in order.
func (s *Server) Listings() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.listings...)
}

// Answered returns the requests that the rule of that name answered.
func (s *Server) Answered(rule string) []Request {
	var found []Request
	for _, r := range s.Requests() {
		if r.Rule == rule {
			found = append(found, r)
		}
	}
	return found
}
