package serve

import (
	"context"

	sdk "github.com/coder/acp-go-sdk"
)

// authEnvironment is the one way to log in: a key in our environment.
const authEnvironment = "environment"

// initialize says what we can, and learns what the client can.
func (s *server) initialize(_ context.Context, p sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	s.mu.Lock()
	s.client = p.ClientCapabilities
	s.mu.Unlock()
	methods := []sdk.AuthMethod{}
	if err := s.o.Models.Ready(); err != nil {
		methods = append(methods, sdk.AuthMethod{Agent: &sdk.AuthMethodAgent{Id: authEnvironment,
			Name: "A key in the environment", Description: sdk.Ptr(s.fault(sdk.AgentMethodInitialize, err).Message)}})
	}
	return sdk.InitializeResponse{
		ProtocolVersion: 1,
		AgentInfo:       &sdk.Implementation{Name: "familiar", Title: sdk.Ptr("Familiar"), Version: s.o.Version},
		AuthMethods:     methods,
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession:        true,
			McpCapabilities:    sdk.McpCapabilities{Http: true},
			PromptCapabilities: sdk.PromptCapabilities{Image: true, EmbeddedContext: true},
			SessionCapabilities: sdk.SessionCapabilities{List: &sdk.SessionListCapabilities{},
				Resume: &sdk.SessionResumeCapabilities{}, Close: &sdk.SessionCloseCapabilities{}},
		},
	}, nil
}

// authenticate looks whether there is a key by now. There is nothing else that we could do about it.
func (s *server) authenticate(_ context.Context, p sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	if p.MethodId != authEnvironment {
		return sdk.AuthenticateResponse{}, bad("there is no way to log in called %q", p.MethodId)
	}
	return sdk.AuthenticateResponse{}, s.o.Models.Ready()
}

// files says which of its files a client lets us read and write.
func (s *server) files() sdk.FileSystemCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client.Fs
}
