package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"familiar/internal/agent"
	"familiar/internal/process"
	"familiar/internal/toolclient"
	"familiar/internal/workspace"
)

// servers are the operator's own MCP servers that the built-in agent can reach.
func (h *Host) servers() []toolclient.Server {
	var list []toolclient.Server
	for _, s := range h.cfg.Agent.MCPServers {
		if s.Transport == "sse" {
			h.log.Warn("the built-in agent does not take MCP servers of this transport; one is left out", "server", s.Name,
				"transport", s.Transport)
			continue
		}
		server := toolclient.Server{Name: s.Name, Command: s.Command, Args: s.Args, URL: s.URL, Headers: s.Headers, Trusted: s.Trusted}
		for name, value := range s.Env {
			server.Env = append(server.Env, name+"="+value)
		}
		list = append(list, server)
	}
	return list
}

// place is where the operator's MCP servers of a session stand: where an agent would, behind the same walls.
func (h *Host) place(o agent.Opening) (toolclient.Place, error) {
	_, no := process.Confinable()
	if no != nil && !h.cfg.Agent.Sandbox.Unconfined {
		return toolclient.Place{}, fmt.Errorf("MCP servers cannot be confined here: %w; set agent.sandbox.unconfined to run them without walls", no)
	}
	stand, err := h.folders.Enter(o.Workspace)
	if err != nil {
		return toolclient.Place{}, err
	}
	p := toolclient.Place{Dir: stand.Work, Leave: stand.Leave, Env: []string{"HOME=" + stand.Home, "TMPDIR=" + stand.Tmp}}
	for _, pair := range os.Environ() {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "PATH", "LANG", "LC_ALL", "USER":
			p.Env = append(p.Env, pair)
		}
	}
	if no == nil {
		p.Walls = func(s toolclient.Server) *process.Walls { return walls(stand, s) }
	}
	return p, nil
}

// walls are what exists for a server: what exists for an agent, and what the operator named when they wrote it down.
func walls(stand *workspace.Stand, s toolclient.Server) *process.Walls {
	var read []string
	for _, named := range append([]string{s.Command}, s.Args...) {
		if !filepath.IsAbs(named) {
			continue
		}
		if info, err := os.Stat(named); err == nil && !info.IsDir() {
			named = filepath.Dir(named)
		}
		read = append(read, named)
	}
	return stand.Walls(read...)
}
