package acp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"familiar/internal/process"
)

// The grace of each way of asking an agent to end; together with the kill it stays under five seconds.
const (
	eofGrace  = 1500 * time.Millisecond
	termGrace = 2 * time.Second // of the behaviour that operators know
)

// launcher starts agents as processes.
type launcher struct {
	agent *Agent
	path  string // the agent's executable
	self  string // ours
	open  bool   // no walls
}

// spawn starts the process of a session in its folders.
func (l launcher) spawn(ctx context.Context, s *session) (*child, error) {
	p, deps := l.agent.profile, l.agent.deps
	readable, err := p.furnish(s.stand.Home, deps.Home, deps.Skills)
	if err != nil {
		return nil, err
	}
	spec := process.Spec{Path: l.path, Args: p.Args, Dir: s.stand.Work, Stderr: s.errors.line,
		Env: environment(l.agent.cfg, p, surroundings{parent: deps.Parent, self: l.self, session: s.token,
			paths: s.stand.Paths, door: s.door})}
	if !l.open {
		spec.Walls = s.stand.Walls(append(readable, l.programs(s.stand.Root)...)...)
	}
	s.command = strings.Join(append([]string{l.path}, p.Args...), " ")
	started, err := process.Start(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	g := process.Grace{EOF: eofGrace, Term: termGrace}
	if p.IgnoresEOF {
		g.EOF = 0
	}
	return launched(started, g), nil
}

// programs are our executable and the agent's, and what lies beside the latter, unless that would be a door in the
// wall: an executable that lies in somebody's HOME, or above our own data, is readable alone.
func (l launcher) programs(data string) []string {
	beside := filepath.Dir(l.path)
	private := []string{data, l.agent.deps.Home}
	for _, place := range private {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			place = real
		}
		if place == "" {
			continue
		}
		if inside, err := filepath.Rel(beside, place); err != nil || filepath.IsLocal(inside) {
			return []string{l.self, l.path}
		}
	}
	return []string{l.self, l.path, beside}
}
