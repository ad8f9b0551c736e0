package loop

import (
	"context"
	"fmt"
	"sync"
	"time"

	"familiar/internal/agent"
	"familiar/internal/toolclient"
)

// absentTime is how long a server that could not be connected is left out: each turn of a companion opens a session,
// and would wait for it again.
const absentTime = 5 * time.Minute

// absent remembers which of the operator's servers could not be connected, by their places in Deps.Servers.
type absent struct {
	mu    sync.Mutex
	until []time.Time
}

// present returns the places of those that are not left out.
func (a *absent) present(now time.Time) []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	var places []int
	for i, until := range a.until {
		if !now.Before(until) {
			places = append(places, i)
		}
	}
	return places
}

func (a *absent) leaveOut(place int, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.until[place] = until
}

// servers connects the MCP servers of a session.
func (a *Agent) servers(ctx context.Context, o agent.Opening, setup Setup) (*toolclient.Set, error) {
	own := a.absent.present(a.deps.Now())
	var all []toolclient.Server
	for _, i := range own {
		all = append(all, a.deps.Servers[i])
	}
	all = append(all, setup.Servers...)
	place, err := a.placeFor(all, o, setup)
	if err != nil {
		return nil, err
	}
	set, err := toolclient.Open(ctx, all, place, toolclient.Options{Log: a.deps.Log, Connect: a.deps.Connect,
		Most: a.cfg.ResultBytes})
	if err != nil {
		return nil, err
	}
	for _, i := range set.Failed() {
		if i < len(own) {
			a.absent.leaveOut(own[i], a.deps.Now().Add(absentTime))
		}
	}
	return set, nil
}

// placeFor is where those of the servers stand that are on standard streams.
func (a *Agent) placeFor(servers []toolclient.Server, o agent.Opening, setup Setup) (toolclient.Place, error) {
	for _, server := range servers {
		switch {
		case server.Command == "":
			continue
		case setup.Place != nil:
			return *setup.Place, nil
		case a.deps.Place == nil:
			return toolclient.Place{}, nil
		}
		place, err := a.deps.Place(o)
		if err != nil {
			return toolclient.Place{}, fmt.Errorf("make room for MCP servers: %w", err)
		}
		return place, nil
	}
	return toolclient.Place{}, nil
}
