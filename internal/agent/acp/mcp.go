package acp

import (
	"maps"
	"slices"

	sdk "github.com/coder/acp-go-sdk"
)

// servers returns the MCP servers of a session: ours, then the operator's. What the agent does not take is left
// out with one word about it; every agent takes stdio.
func (s *session) servers() []sdk.McpServer {
	servers := []sdk.McpServer{}
	if s.door.MCPURL != "" {
		ours := MCPServer{Name: ourServer, Transport: "http", URL: s.door.MCPURL,
			Headers: map[string]string{"Authorization": "Bearer " + s.door.Token}}
		servers = s.offer(servers, ours)
	}
	for _, server := range s.agent.cfg.MCPServers {
		servers = s.offer(servers, server)
	}
	return servers
}

func (s *session) offer(servers []sdk.McpServer, m MCPServer) []sdk.McpServer {
	headers := []sdk.HttpHeader{}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		headers = append(headers, sdk.HttpHeader{Name: name, Value: m.Headers[name]})
	}
	switch {
	case m.Transport == "stdio":
		env := []sdk.EnvVariable{}
		for _, name := range slices.Sorted(maps.Keys(m.Env)) {
			env = append(env, sdk.EnvVariable{Name: name, Value: m.Env[name]})
		}
		return append(servers, sdk.McpServer{Stdio: &sdk.McpServerStdio{Name: m.Name, Command: m.Command,
			Args: append([]string{}, m.Args...), Env: env}})
	case m.Transport == "http" && s.caps.McpCapabilities.Http:
		return append(servers, sdk.McpServer{Http: &sdk.McpServerHttpInline{Type: "http", Name: m.Name, Url: m.URL,
			Headers: headers}})
	case m.Transport == "sse" && s.caps.McpCapabilities.Sse:
		return append(servers, sdk.McpServer{Sse: &sdk.McpServerSseInline{Type: "sse", Name: m.Name, Url: m.URL,
			Headers: headers}})
	}
	if s.agent.first("transport of " + m.Name) {
		s.log.Warn("the agent does not take MCP servers of this transport; one is left out", "server", m.Name,
			"transport", m.Transport)
	}
	return servers
}
