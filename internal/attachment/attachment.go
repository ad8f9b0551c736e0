// Package attachment lets an agent send files out of its workspace. Every path is resolved and judged before anything is
// read; what may go is copied first to where the agent cannot change it any more. One file that may not go keeps all of
// them back. It sends nothing itself.
package attachment

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

var (
	//go:embed send-file.md
	sendFileDoc string
	//go:embed next-action.txt
	nextAction string
)

// attempts are the calls in a turn before the agent counts as looping (air-friends spec §5.3).
const attempts = 3

// Kit is the tool send-file. Safe for concurrent use.
type Kit struct {
	cfg  Config
	deps Deps
}

// Deps is what the tool works with.
type Deps struct {
	// Folders tells where the agent of a session may take files from: the first is where it stands, from which relative
	// paths count.
	Folders func(t chat.Turn, session string) ([]string, error)
	// Stage is an existing folder that no agent reaches.
	Stage string
	// Send delivers files, and tells in which messages, and how many went out.
	Send func(ctx context.Context, t chat.Turn, caption string, files []chat.File) (receipts []chat.Receipt, sent int, err error)
}

// New makes the tool of a checked section.
func New(cfg Config, deps Deps) *Kit { return &Kit{cfg, deps} }

// Tools returns send-file; none of a nil Kit.
func (k *Kit) Tools() []tool.Tool {
	if k == nil {
		return nil
	}
	return []tool.Tool{tool.New(tool.Tool{Name: "send-file", Doc: sendFileDoc, Effect: tool.Speaks, Attempts: attempts}, k.sendFile)}
}

type fileArgs struct {
	FilePaths []string `json:"filePaths,omitempty" jsonschema:"the files: paths inside your workspace"`
	FilePath  string   `json:"filePath,omitempty" jsonschema:"one file, in place of filePaths"`
	Caption   string   `json:"caption,omitempty" jsonschema:"a few words that go with the files, in Markdown"`
}

type fileDone struct {
	MessageID  chat.MessageID   `json:"messageId"`
	MessageIDs []chat.MessageID `json:"messageIds"`
	FilesCount int              `json:"filesCount"`
	NextAction string           `json:"nextAction"`
	Warning    string           `json:"warning,omitempty"`
}

func (k *Kit) sendFile(ctx context.Context, t chat.Turn, a fileArgs) (_ fileDone, err error) {
	session := tool.SessionOf(ctx)
	if t.Answers() == "" || session == "" {
		return fileDone{}, tool.Fault{Status: http.StatusForbidden, Say: "files are sent only in answer to a message, and nobody wrote one in this session"}
	}
	if a.FilePath != "" {
		a.FilePaths = append(a.FilePaths, a.FilePath)
	}
	folders, err := k.deps.Folders(t, session)
	if err != nil {
		return fileDone{}, fmt.Errorf("find the workspace: %w", err)
	}
	chosen, err := k.choose(folders, a.FilePaths)
	if err != nil {
		return fileDone{}, err
	}
	defer chosen.close()
	dir, err := os.MkdirTemp(k.deps.Stage, "files-")
	if err != nil {
		return fileDone{}, fmt.Errorf("copy the files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	files, err := chosen.copyTo(ctx, dir)
	if err != nil {
		return fileDone{}, err
	}
	receipts, sent, err := k.deps.Send(ctx, t, a.Caption, files)
	if err != nil {
		return fileDone{}, err
	}
	done := fileDone{FilesCount: sent, NextAction: strings.TrimSpace(nextAction)}
	for _, r := range receipts {
		done.MessageID, done.MessageIDs = r.Message, append(done.MessageIDs, r.Message)
	}
	if sent < len(files) {
		done.Warning = fmt.Sprintf("the network took %d of %d files; the others cannot be sent in this turn", sent, len(files))
	}
	return done, nil
}
