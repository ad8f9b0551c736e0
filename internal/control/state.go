package control

import (
	"context"
	"net/http"
	"time"
)

// State is who one talks to, and what they can be told to do.
type State struct {
	Bot struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Language string `json:"language"`
	} `json:"bot"`
	Agent struct {
		Name     string `json:"name"`
		Provider string `json:"provider"`
		Model    string `json:"model"`
		Ready    bool   `json:"ready"`
		Missing  string `json:"missing"` // why nobody thinks, and what can be done about it
		Next     string `json:"next"`
	} `json:"agent"`
	Commands []Command `json:"commands"`
}

// Command is a slash command of the bot.
type Command struct {
	Name string `json:"name"` // with the slash
	Args string `json:"args"` // what follows it, for people
	Help string `json:"help"`
}

// Session is a conversation with the bot's owner.
type Session struct {
	ID     string    `json:"id"`
	Title  string    `json:"title"` // its first words; "" while it has none
	Active time.Time `json:"activeAt"`
}

// State asks for the state of the bot.
func (c *Client) State(ctx context.Context) (State, error) {
	return get[State](ctx, c, "/console/state")
}

// Sessions asks for the conversations, the latest first.
func (c *Client) Sessions(ctx context.Context) ([]Session, error) {
	type list struct {
		Sessions []Session `json:"sessions"`
	}
	all, err := get[list](ctx, c, "/v1/sessions")
	return all.Sessions, err
}

func get[A any](ctx context.Context, c *Client, path string) (answer A, err error) {
	resp, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return answer, err
	}
	return answer, read(resp, &answer)
}
