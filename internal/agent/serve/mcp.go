package serve

import (
	"net/url"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/toolclient"
)

// mostServers is how many MCP servers a session may have.
const mostServers = 32

// servers translates the MCP servers that a client names.
func (s *server) servers(named []sdk.McpServer) ([]toolclient.Server, error) {
	if len(named) > mostServers {
		return nil, bad("mcpServers: more than %d", mostServers)
	}
	var servers []toolclient.Server
	for i, m := range named {
		var made toolclient.Server
		switch {
		case m.Stdio != nil:
			if m.Stdio.Command == "" {
				return nil, bad("mcpServers[%d]: command is missing", i)
			}
			made = toolclient.Server{Name: m.Stdio.Name, Command: m.Stdio.Command, Args: m.Stdio.Args}
			for _, v := range m.Stdio.Env {
				made.Env = append(made.Env, v.Name+"="+v.Value)
			}
		case m.Http != nil:
			at, err := url.Parse(m.Http.Url)
			if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
				return nil, bad("mcpServers[%d]: url is not an address as in https://example.org/mcp", i)
			}
			made = toolclient.Server{Name: m.Http.Name, URL: m.Http.Url, Headers: map[string]string{}}
			for _, h := range m.Http.Headers {
				made.Headers[h.Name] = h.Value
			}
		default:
			return nil, bad("mcpServers[%d]: only servers on standard streams and of type http are taken", i)
		}
		made.Trusted = slices.Contains(s.o.Trust, made.Name)
		servers = append(servers, made)
	}
	return servers, nil
}

// harmless are the variables of ours that an MCP server gets; what it needs besides, the client gives it.
var harmless = []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ"}

// place is where MCP servers of a session stand.
func (s *server) place(cwd string) toolclient.Place {
	place := toolclient.Place{Dir: cwd}
	for _, line := range s.o.Environ {
		if name, _, ok := strings.Cut(line, "="); ok && slices.Contains(harmless, name) {
			place.Env = append(place.Env, line)
		}
	}
	return place
}
