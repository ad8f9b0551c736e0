package serve

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/chat"
	"familiar/internal/jsonrpc"
	"familiar/internal/tool"
)

//go:embed read_file.md
var readDoc string

//go:embed write_file.md
var writeDoc string

// Our own tools: the client's files.
const (
	readFile  = "read_file"
	writeFile = "write_file"
)

type (
	readArgs struct {
		Path  string `json:"path" jsonschema:"the file, within the folder that you stand in"`
		Line  *int   `json:"line,omitempty" jsonschema:"the first line to read, counted from 1"`
		Limit *int   `json:"limit,omitempty" jsonschema:"how many lines to read"`
	}
	readAnswer struct {
		Content string `json:"content"`
	}
	writeArgs struct {
		Path    string `json:"path" jsonschema:"the file, within the folder that you stand in"`
		Content string `json:"content" jsonschema:"all that the file shall hold"`
	}
	writeAnswer struct {
		Written int `json:"writtenBytes"`
	}
)

// tools returns the tools that a client makes possible.
func (s *session) tools(can sdk.FileSystemCapabilities) []tool.Tool {
	var tools []tool.Tool
	if can.ReadTextFile {
		tools = append(tools, tool.New(tool.Tool{Name: readFile, Doc: readDoc, Effect: tool.Reads},
			func(ctx context.Context, _ chat.Turn, a readArgs) (readAnswer, error) {
				path, err := s.within(a.Path)
				if err != nil {
					return readAnswer{}, err
				}
				text, err := s.read(ctx, sdk.ReadTextFileRequest{Path: path, Line: a.Line, Limit: a.Limit})
				return readAnswer{text}, said(err)
			}))
	}
	if can.WriteTextFile {
		tools = append(tools, tool.New(tool.Tool{Name: writeFile, Doc: writeDoc, Effect: tool.Writes},
			func(ctx context.Context, _ chat.Turn, a writeArgs) (writeAnswer, error) {
				path, err := s.within(a.Path)
				if err != nil {
					return writeAnswer{}, err
				}
				_, err = request[sdk.WriteTextFileResponse](ctx, s.server.conn, sdk.ClientMethodFsWriteTextFile,
					sdk.WriteTextFileRequest{SessionId: s.id, Path: path, Content: a.Content})
				return writeAnswer{len(a.Content)}, said(err)
			}))
	}
	return tools
}

func (s *session) read(ctx context.Context, r sdk.ReadTextFileRequest) (string, error) {
	r.SessionId = s.id
	answer, err := request[sdk.ReadTextFileResponse](ctx, s.server.conn, sdk.ClientMethodFsReadTextFile, r)
	return answer.Content, err
}

// said makes of a client's refusal a fault that the model reads.
func said(err error) error {
	var refusal *jsonrpc.Error
	if errors.As(err, &refusal) {
		return tool.Bad("the file was refused: %s", jsonrpc.Short(refusal.Message, 300))
	}
	return err
}

// within returns the absolute path of a file in the session's folder. What symbolic links make of it, only the client
// can see.
func (s *session) within(path string) (string, error) {
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return "", tool.Bad("path is missing")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.cwd, path)
	}
	path = filepath.Clean(path)
	rest, err := filepath.Rel(s.cwd, path)
	if err != nil || rest == ".." || strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
		return "", tool.Bad("path: only files within %s can be reached", s.cwd)
	}
	return path, nil
}

// file returns the file that a call of one of our own tools names.
func (s *session) file(name, input string) (string, bool) {
	if name != readFile && name != writeFile {
		return "", false
	}
	var named struct {
		Path string `json:"path"`
	}
	if json.Unmarshal([]byte(input), &named) != nil {
		return "", false
	}
	path, err := s.within(named.Path)
	return path, err == nil
}

// difference returns what a call of write_file would change.
func (s *session) difference(ctx context.Context, name, input string) (sdk.ToolCallContent, bool) {
	var args writeArgs
	if name != writeFile || json.Unmarshal([]byte(input), &args) != nil {
		return sdk.ToolCallContent{}, false
	}
	path, err := s.within(args.Path)
	if err != nil {
		return sdk.ToolCallContent{}, false
	}
	if s.server.files().ReadTextFile {
		if old, err := s.read(ctx, sdk.ReadTextFileRequest{Path: path}); err == nil {
			return sdk.ToolDiffContent(path, args.Content, old), true
		}
	}
	return sdk.ToolDiffContent(path, args.Content), true // a new file, or one whose text is not to be had
}
