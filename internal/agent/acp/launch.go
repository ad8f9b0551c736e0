package acp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"familiar/internal/agent/acp/profile"
	"familiar/internal/process"
)

// launcher starts agents as processes.
type launcher struct {
	agent *Agent
	path  string // the agent's executable
	node  string // the Node.js that it runs on; "" when it needs none
	self  string // ours
	open  bool   // no walls

	isolation process.Isolation
}

// spawn starts the process of a session in its folders.
func (l launcher) spawn(ctx context.Context, s *session) (*child, error) {
	p, deps := l.agent.profile, l.agent.deps
	if err := disarm(p, s.stand.Work); err != nil {
		return nil, err
	}
	readable, err := furnish(p, s.stand.Home, deps.Home, deps.Skills)
	if err != nil {
		return nil, err
	}
	args := make([]string, len(p.Args))
	for i, arg := range p.Args {
		args[i] = profile.At(s.stand.Home, s.stand.Tmp, arg)
	}
	spec := process.Spec{Path: l.path, Args: args, Dir: s.stand.Work, Stderr: s.errors.line, Isolation: l.isolation,
		Env: environment(l.agent.cfg, p, surroundings{parent: deps.Parent, self: l.self, session: s.token,
			paths: s.stand.Paths, door: s.door, root: os.Geteuid() == 0})}
	if !l.open {
		spec.Walls = s.stand.Walls(append(readable, l.programs(s.stand.Root)...)...)
	}
	s.command = strings.Join(append([]string{l.path}, args...), " ")
	started, err := process.Start(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	return launched(started, l.agent.cfg.grace(p)), nil
}

// programs are our executable, the agent's and what that runs on, and what lies beside the agent's: its folder, or
// all the packages that it was installed with. What would be a door in the wall is left out: a folder that holds
// somebody's HOME, or our own data.
func (l launcher) programs(data string) []string {
	readable := []string{l.self, l.path}
	if l.node != "" {
		readable = append(readable, l.node)
	}
	beside := filepath.Dir(l.path)
	if top, _, packaged := strings.Cut(l.path, "/node_modules/"); packaged {
		beside = top + "/node_modules"
	}
	for _, place := range []string{data, l.agent.deps.Home} {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			place = real
		}
		if place == "" {
			continue
		}
		if inside, err := filepath.Rel(beside, place); err != nil || filepath.IsLocal(inside) {
			return readable
		}
	}
	return append(readable, beside)
}
