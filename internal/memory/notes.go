package memory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// Notes are the Markdown files that agents share: knowledge that anybody may hear. They are only read here.
type Notes struct {
	dir string
	cfg limits
}

// OpenNotes returns the notes in the agent workspace dir, which need not be there yet.
func OpenNotes(cfg Config, dir string) *Notes {
	n := &Notes{dir: dir}
	n.Reload(cfg)
	return n
}

// Reload searches from now on within the bounds of another checked configuration.
func (n *Notes) Reload(cfg Config) { n.cfg.Store(&cfg) }

// Note is a file in which something was found. Path is relative to the agent workspace, with slashes.
type Note struct {
	Path  string      `json:"filePath"`
	Lines []NotedLine `json:"matchedLines"`

	// Foreign says that nobody looked at it: a session that had read what anybody may have written put it here by itself.
	Foreign bool `json:"-"`
}

// NotedLine is a line that holds a keyword. Number counts from 1.
type NotedLine struct {
	Number int    `json:"lineNumber"`
	Text   string `json:"content"`
}

// The bounds of one search. Agents write these files, so they may be anything.
const (
	maxNotes    = 5000     // files looked into
	maxNote     = 1 << 20  // bytes read of one file
	maxSearched = 32 << 20 // bytes read altogether
	maxLines    = 20       // lines told of one file
	maxLineText = 500      // characters told of one line
)

// errEnough ends a walk early.
var errEnough = errors.New("enough")

// Search returns the notes that hold one of the words of query, in the order of their paths: at most limit of
// them, and not many more than memory.maxChars characters. Links and files called README.md are passed over.
func (n *Notes) Search(ctx context.Context, query string, limit int) ([]Note, error) {
	root, err := os.OpenRoot(n.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("search notes: %w", err)
	}
	defer root.Close()
	s := noteSearch{root: root, words: keywords(query), limit: limit, left: n.cfg.Load().MaxChars}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return ctx.Err() // what cannot be read is passed over
		}
		return s.visit(name, entry)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("search notes: %w", err)
	}
	return s.found, nil
}

// noteSearch is one search under way.
type noteSearch struct {
	root  *os.Root
	words []string
	limit int
	left  int // characters that may still be told

	files int
	bytes int64
	found []Note
}

func (s *noteSearch) visit(name string, entry fs.DirEntry) error {
	if !entry.Type().IsRegular() || path.Ext(name) != ".md" || path.Base(name) == "README.md" {
		return nil
	}
	if s.files++; s.files > maxNotes || s.bytes > maxSearched || len(s.found) >= s.limit || s.left <= 0 {
		return errEnough
	}
	note := Note{Path: name}
	if note.Lines, note.Foreign = s.read(name); len(note.Lines) > 0 {
		s.found = append(s.found, note)
	}
	return nil
}

// read returns the lines of one file that hold a keyword, and whether nobody looked at them. A file that cannot be read
// has none.
func (s *noteSearch) read(name string) (lines []NotedLine, foreign bool) {
	// An agent may put a link or a pipe in the place of the file that was just seen there.
	file, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	in := bufio.NewScanner(io.LimitReader(file, maxNote))
	in.Buffer(nil, maxNote+1)
	var of origin
	for number := 1; in.Scan() && len(lines) < maxLines && s.left > 0; number++ {
		s.bytes += int64(len(in.Bytes())) + 1
		of.see(number, in.Text())
		if s.holds(in.Text()) {
			text := cut(strings.TrimSpace(strings.ToValidUTF8(in.Text(), "\ufffd")), maxLineText)
			lines = append(lines, NotedLine{number, text})
			s.left -= len([]rune(text))
		}
	}
	return lines, of.foreign()
}

func (s *noteSearch) holds(text string) bool {
	text = strings.ToLower(text)
	for _, word := range s.words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// origin reads what a note says in front of its text of where it comes from, and before lines that were added to it.
type origin struct {
	front, strange, vouched, added bool
}

// see takes one line, of which the first has the number 1.
func (o *origin) see(number int, line string) {
	line = strings.TrimRight(line, " \t\r")
	switch {
	case number == 1:
		o.front = line == "---"
	case o.front && line == "---":
		o.front = false
	case o.front && line == "standing: foreign":
		o.strange = true
	case o.front && strings.HasPrefix(line, "admitted: "):
		o.vouched = true
	case strings.HasPrefix(line, "<!-- research ") && strings.Contains(line, " unreviewed"):
		o.added = true
	}
}

// foreign reports whether strangers had a say in it and nobody looked at it since.
func (o *origin) foreign() bool { return o.strange && !o.vouched || o.added }
