package note

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"strings"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

var (
	//go:embed write.md
	writeDoc string
	//go:embed read.md
	readDoc string
)

// Tools returns write-note and read-note, which work in the copy of the turn's session.
func Tools(n *Notes) []tool.Tool {
	return []tool.Tool{
		tool.New(tool.Tool{Name: "write-note", Doc: writeDoc, Effect: tool.Writes, Needs: chat.Foreign}, n.writeTool),
		tool.New(tool.Tool{Name: "read-note", Doc: readDoc, Effect: tool.Reads, Needs: chat.Foreign}, n.readTool),
	}
}

type writeArgs struct {
	Path    string `json:"path" jsonschema:"which note, as in notes/tea-in-japan.md or notes/_index.md"`
	Content string `json:"content" jsonschema:"the note, in Markdown"`
}

type written struct {
	Path  string `json:"path"`
	Added bool   `json:"added"` // to what was there
}

// errNoCopy says that a session may not write notes.
var errNoCopy = tool.Fault{Status: 404, Say: "this session has no copy of the notes to write in"}

func (n *Notes) writeTool(_ context.Context, t chat.Turn, a writeArgs) (written, error) {
	w, ok := n.of(t.ID)
	if !ok {
		return written{}, errNoCopy
	}
	if err := errors.Join(checkName(a.Path), checkText(a.Content)); err != nil {
		return written{}, tool.Bad("write-note: %v", err)
	}
	if err := w.write(a.Path, a.Content); err != nil {
		return written{}, err
	}
	return written{a.Path, adds(a.Path)}, nil
}

type readArgs struct {
	Path string `json:"path,omitempty" jsonschema:"which note, as in notes/tea-in-japan.md; notes/_index.md when left out"`
}

type told struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Cut     bool   `json:"cut,omitempty"` // there is more
}

func (n *Notes) readTool(_ context.Context, t chat.Turn, a readArgs) (told, error) {
	w, ok := n.of(t.ID)
	if !ok {
		return told{}, errNoCopy
	}
	if a.Path == "" {
		a.Path = index
	}
	if err := checkName(a.Path); err != nil {
		return told{}, tool.Bad("read-note: %v", err)
	}
	text, err := w.look(a.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return told{}, tool.Fault{Status: 404, Say: "read-note: there is no such note; notes/_index.md lists them"}
	case errors.Is(err, errPlain), errors.Is(err, errLong):
		return told{}, tool.Bad("read-note: %v", err)
	case err != nil:
		return told{}, err
	}
	_, text, _ = read(text)
	text = strings.ToValidUTF8(text, "\ufffd")
	answer := told{Path: a.Path, Content: text}
	if r := []rune(text); len(r) > longestToTell {
		answer.Content, answer.Cut = string(r[:longestToTell]), true
	}
	return answer, nil
}
