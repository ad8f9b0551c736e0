// Package console is the page at "/": the owner's chat with this bot in a browser. It serves embedded files and
// one small document of state; everything else the page does goes through the routes of the web platform, like
// any other client.
//
// It promises: nothing is loaded from elsewhere, no script stands in the page, and nothing that somebody said is
// ever read as markup. Whether a request comes from the owner is asked of LoggedIn; the package keeps no session.
package console

import (
	"encoding/json"
	"net/http"

	"familiar/internal/answer"
)

// State is what the page shows besides the conversation.
type State struct {
	Bot      Bot       `json:"bot"`
	Agent    Agent     `json:"agent"`
	Commands []Command `json:"commands"`
	People   bool      `json:"people,omitempty"` // the page shows who is admitted, from /console/people of its host
	Notes    bool      `json:"notes,omitempty"`  // the page shows notes that wait, from /console/notes of its host
}

// Bot says who the owner talks to.
type Bot struct {
	ID       string `json:"id"`
	Name     string `json:"name"` // "" shows the id
	Language string `json:"language"`
	Desk     string `json:"desk"`
}

// Agent says who thinks. While nobody does, Missing says what is missing in one line and Next how to add it; both
// are in the bot's language, and words between backquotes are shown as code.
type Agent struct {
	Name     string `json:"name"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model"`
	Pending  bool   `json:"pending,omitempty"` // the model is found out only when somebody writes
	Ready    bool   `json:"ready"`
	Missing  string `json:"missing,omitempty"`
	Next     string `json:"next,omitempty"`
}

// Command is a slash command that the composer offers.
type Command struct {
	Name string `json:"name"`           // with the slash
	Args string `json:"args,omitempty"` // what follows it, for people: "TEXT"
	Help string `json:"help"`           // one line, in the bot's language
}

// Options is what the console needs of its host.
type Options struct {
	// State is asked for each page and each document of state. It must not block, and be safe for concurrent use.
	State func() State
	// LoggedIn says whether a request may see the page; nil lets everybody in, for a host that asked before.
	LoggedIn func(r *http.Request) bool
}

// Console serves the page. Safe for concurrent use.
type Console struct {
	state    func() State
	loggedIn func(r *http.Request) bool
}

// New returns a console.
func New(o Options) *Console {
	c := &Console{state: o.State, loggedIn: o.LoggedIn}
	if c.loggedIn == nil {
		c.loggedIn = func(*http.Request) bool { return true }
	}
	return c
}

// Routes adds "/" and what the page loads to mux. The files under /console/ hold no secret and are open.
func (c *Console) Routes(mux *http.ServeMux) {
	mux.Handle("/{$}", reading(c.page))
	mux.Handle("/console/state", reading(c.tellState))
	mux.Handle("/console/labels.json", reading(c.labels))
	mux.Handle("/console/{file}", reading(file))
}

// Locked serves the page for somebody who is not logged in: how to get in, and nothing else.
func (c *Console) Locked(rw http.ResponseWriter, _ *http.Request) {
	c.render(rw, http.StatusUnauthorized, "locked.html")
}

func (c *Console) page(rw http.ResponseWriter, r *http.Request) {
	if !c.loggedIn(r) {
		c.Locked(rw, r)
		return
	}
	c.render(rw, http.StatusOK, "page.html")
}

func (c *Console) tellState(rw http.ResponseWriter, r *http.Request) {
	if !c.loggedIn(r) {
		answer.Fail(rw, http.StatusUnauthorized, "log in first: run `familiar open`")
		return
	}
	state := c.state()
	if state.Commands == nil {
		state.Commands = []Command{}
	}
	data, err := json.Marshal(state)
	if err != nil { // strings and switches always become JSON
		answer.Fail(rw, http.StatusInternalServerError, "something went wrong here")
		return
	}
	rw.Header().Set("Content-Type", "application/json; charset=utf-8")
	rw.Header().Set("Cache-Control", "no-store")
	_, _ = rw.Write(data)
}

// labels serves the words of the page in the bot's language.
func (c *Console) labels(rw http.ResponseWriter, r *http.Request) {
	send(rw, r, "application/json; charset=utf-8", labelFile(c.state().Bot.Language))
}
