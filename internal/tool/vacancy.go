package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Vacancy is a place at the box that nobody sits at yet. It has its session id and shows its tools, so that a
// process can be started before anybody needs it; every call is refused. Once taken it is the seat that took it.
// Safe for concurrent use.
type Vacancy struct {
	session string
	tools   []Tool

	mu   sync.Mutex
	seat Caller
}

// NewVacancy keeps a place free under a session id, with the tools that whoever takes it will have.
func NewVacancy(session string, tools []Tool) *Vacancy {
	return &Vacancy{session: session, tools: tools}
}

// Take seats somebody, once. The seat must have been made for the vacancy's session.
func (v *Vacancy) Take(seat Caller) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.seat != nil:
		return errors.New("take a vacancy: it is taken")
	case seat == nil:
		return errors.New("take a vacancy: nobody comes")
	case seat.Session() != v.session:
		return fmt.Errorf("take a vacancy: it is for session %s, not %s", v.session, seat.Session())
	}
	v.seat = seat
	return nil
}

// Session returns the id under which the place is kept.
func (v *Vacancy) Session() string { return v.session }

// Tools returns what may be called from here.
func (v *Vacancy) Tools() []Tool {
	if seat := v.taken(); seat != nil {
		return seat.Tools()
	}
	return v.tools
}

// Call runs a tool for whoever took the place; before that it is ErrNoTurn.
func (v *Vacancy) Call(ctx context.Context, name string, args json.RawMessage) (Result, error) {
	if seat := v.taken(); seat != nil {
		return seat.Call(ctx, name, args)
	}
	return Result{}, ErrNoTurn
}

func (v *Vacancy) taken() Caller {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seat
}
