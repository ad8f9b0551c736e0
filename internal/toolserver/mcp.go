package toolserver

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"familiar/internal/tool"
)

// doorKey is the context key of the door that a request was let in by.
type doorKey struct{}

// mcpFace serves MCP over streamable HTTP. It keeps no MCP session: each request brings its bearer, and is
// answered as plain JSON. Agents reconnect as they like, and nothing is left behind when one dies.
func (s *Server) mcpFace() http.Handler {
	face := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		d, _ := r.Context().Value(doorKey{}).(*door)
		if d == nil {
			return nil
		}
		return d.mcp
	}, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody,
		Logger: slog.New(slog.DiscardHandler)}) // its lines hold arguments
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, ok := s.findToken(bearer(r))
		if !ok {
			w.Header().Set("WWW-Authenticate", "Bearer")
			write(w, tool.Fault{Status: 401, Say: "the token is missing or wrong, or the session has ended"})
			return
		}
		leave, err := d.enter(s.now)
		if err != nil {
			write(w, err)
			return
		}
		defer leave()
		ctx, after := tool.Answering(context.WithValue(r.Context(), doorKey{}, d))
		defer after()
		face.ServeHTTP(w, r.WithContext(ctx))
		_ = http.NewResponseController(w).Flush()
	})
}

// mcpServer offers the tools of one door. A refusal is a result that the model reads, not an error of the
// protocol, so that it can mend its call.
func (s *Server) mcpServer(d *door) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "familiar", Version: "1"}, &mcp.ServerOptions{
		Logger:       slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // the list never changes
	})
	server.AddReceivingMiddleware(noting(d))
	for _, t := range d.seat.Tools() {
		server.AddTool(&mcp.Tool{Name: t.Name, Description: t.Doc, InputSchema: t.Params, Annotations: hints(t.Effect)},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return s.mcpCall(ctx, d, t.Name, r)
			})
	}
	return server
}

// noting has calls of tools that are not offered recorded like any other, before the protocol refuses them.
func noting(d *door) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if call, ok := r.(*mcp.CallToolRequest); ok && !d.has(call.Params.Name) {
				d.note(ctx, call.Params.Name, call.Params.Arguments)
			}
			return next(ctx, method, r)
		}
	}
}

func (s *Server) mcpCall(ctx context.Context, d *door, name string, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args := bytes.TrimSpace(r.Params.Arguments)
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	res, err := d.call(ctx, name, args)
	if err != nil {
		return text(s.explain(d, name, err).Say, true), nil
	}
	return text(string(res.Data), false), nil
}

func text(say string, isError bool) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: say}}, IsError: isError}
}

// hints tells a client how bad a tool can be; clients use it to decide what to ask their user about.
func hints(e tool.Effect) *mcp.ToolAnnotations {
	open := e == tool.Speaks || e == tool.Spends
	destroys := e == tool.Spends
	return &mcp.ToolAnnotations{ReadOnlyHint: e == tool.Reads, DestructiveHint: &destroys, OpenWorldHint: &open}
}
