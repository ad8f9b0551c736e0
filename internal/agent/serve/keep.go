package serve

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/agent/loop"
	"familiar/internal/journal"
	"familiar/internal/jsonrpc"
	"familiar/internal/llm"
)

const (
	// pageSize is how many sessions one answer lists.
	pageSize = 50
	// headSize is how far into a file its title is looked for, in bytes: it comes with the first prompt.
	headSize = 64 << 10
	// longestPart is what a part is cut to when its message is too long for a line, in bytes.
	longestPart = 64 << 10
)

// fitted writes a message so that it fits into a line: without its pictures, and then shortened, when it must be.
func fitted(h loop.History) (json.RawMessage, error) {
	const room = journal.MaxLine - 4<<10 // for what else is in the line
	raw, err := json.Marshal(h)
	if err != nil || len(raw) <= room {
		return raw, err
	}
	h = h.Clone()
	for _, shorten := range []func(llm.Part) llm.Part{bare, short} {
		for i := range h.Messages {
			for j, p := range h.Messages[i].Parts {
				h.Messages[i].Parts[j] = shorten(p)
			}
		}
		if raw, err = json.Marshal(h); err != nil || len(raw) <= room {
			return raw, err
		}
	}
	return nil, errors.New("a message is too long to be kept")
}

func bare(p llm.Part) llm.Part {
	if image, ok := p.(llm.Image); ok {
		return llm.Image{MIME: image.MIME} // the loop says that one stood there
	}
	return p
}

func short(p llm.Part) llm.Part {
	switch p := p.(type) {
	case llm.Text:
		return llm.Text(jsonrpc.Short(string(p), longestPart))
	case llm.Result:
		p.Text = jsonrpc.Short(p.Text, longestPart)
		return p
	case llm.Call:
		if len(p.Input) > longestPart {
			p.Input = json.RawMessage("{}")
		}
		return p
	case llm.Thinking:
		return llm.Thinking{} // with its signature it may not be changed
	}
	return p
}

// kept is a session's file as a listing sees it.
type kept struct {
	id, cwd, title string
	changed        time.Time
}

// all returns the sessions' files, newest first, without what is in them.
func (s *store) all() ([]kept, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var found []kept
	for _, e := range entries {
		id, ours := strings.CutSuffix(e.Name(), extension)
		if !ours || !isID(id) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil { // it may be gone by now
			found = append(found, kept{id: id, changed: info.ModTime()})
		}
	}
	slices.SortFunc(found, newer)
	return found, nil
}

func newer(a, b kept) int {
	if c := b.changed.Compare(a.changed); c != 0 {
		return c
	}
	return strings.Compare(a.id, b.id)
}

// page is a part of a listing; next is the cursor of what follows, "" at the end.
type page struct {
	found []kept
	next  string
}

// list lists the sessions of a folder, "" for all, from behind the cursor on.
func (s *store) list(cwd, cursor string) (page, error) {
	behind, err := readCursor(cursor)
	if err != nil {
		return page{}, err
	}
	all, err := s.all()
	if err != nil {
		return page{}, err
	}
	var p page
	for _, k := range all {
		if cursor != "" && newer(behind, k) >= 0 {
			continue
		}
		if !s.look(&k) || cwd != "" && k.cwd != cwd {
			continue
		}
		if len(p.found) == pageSize {
			p.next = writeCursor(p.found[pageSize-1])
			break
		}
		p.found = append(p.found, k)
	}
	return p, nil
}

// look reads what a listing needs of a file, and reports whether it is a session's.
func (s *store) look(k *kept) bool {
	file, err := os.Open(s.path(k.id))
	if err != nil {
		return false
	}
	defer file.Close()
	var head summary
	_, _ = journal.Scan(io.LimitReader(file, headSize), head.read) // what can be read of a damaged one is enough
	k.cwd, k.title = head.cwd, head.title
	return head.id == k.id && head.cwd != ""
}

func writeCursor(k kept) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(k.changed.UnixNano(), 10) + " " + k.id))
}

func readCursor(cursor string) (kept, error) {
	if cursor == "" {
		return kept{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	at, id, ok := strings.Cut(string(raw), " ")
	n, wrong := strconv.ParseInt(at, 10, 64)
	if err != nil || wrong != nil || !ok || !isID(id) {
		return kept{}, bad("cursor: it is none of ours")
	}
	return kept{id: id, changed: time.Unix(0, n)}, nil
}

// prune deletes the sessions that are too old or too many, but none that is open somewhere.
func (s *store) prune(now time.Time) error {
	all, err := s.all()
	if err != nil {
		return err
	}
	for i, k := range all {
		if i < mostKept-1 && now.Sub(k.changed) < longestKept {
			continue
		}
		lock, err := locked(s.path(k.id))
		if err != nil {
			continue
		}
		err = os.Remove(s.path(k.id))
		if closed := lock.Close(); err == nil {
			err = closed
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
