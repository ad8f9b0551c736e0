package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/journal"
)

// Folder is the name of the folder of records below the data of a bot.
const Folder = "audit"

// Line is one entry as it was written.
type Line struct {
	At    time.Time
	Entry Entry // nil where the phase is not known to this build
	Phase string
	Data  json.RawMessage // as it stands in the file
}

// Record is what is written of one session.
type Record struct {
	Session string `json:"session"`
	Person  string `json:"person"` // platform/id where the record says so, else the names of its folders
	Path    string `json:"-"`
	Lines   []Line `json:"-"`

	Began   time.Time `json:"began"`
	Took    int64     `json:"tookMs"`
	Type    string    `json:"type,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Model   string    `json:"model,omitempty"`
	Calls   int       `json:"calls"`
	Replies int       `json:"replies"`
	Ended   bool      `json:"ended"` // false: it runs, or was cut off
	Success bool      `json:"success"`
	Error   string    `json:"error,omitempty"`
}

// Wanted says which records and refusals are meant. The zero Wanted is all of them.
type Wanted struct {
	Person string    // platform/id, or the id alone
	Since  time.Time // those that began then or later
}

// List reads the records of a folder, oldest first, without their lines. A folder that is not there has none. Lines that are torn, or not
// understood, are passed over; a file that cannot be read is an error, after the others were read.
func List(dir string, want Wanted) ([]Record, error) {
	var found []Record
	var errs []error
	err := walk(dir, func(path string) {
		r, err := read(dir, path)
		if err != nil {
			errs = append(errs, err)
		} else if want.takes(r.Person, r.folder(dir), r.Began) {
			r.Lines = nil // of all sessions together they could be more than there is memory
			found = append(found, r)
		}
	})
	slices.SortStableFunc(found, func(a, b Record) int { return a.Began.Compare(b.Began) })
	return found, errors.Join(append(errs, err)...)
}

// ErrNoRecord says that there is no record of a session.
var ErrNoRecord = errors.New("there is no record of this session")

// Find reads the record of a session. The end or the beginning of its name is enough, where no other has it.
func Find(dir, session string) (Record, error) {
	var paths []string
	err := walk(dir, func(path string) {
		name := nameOf(path)
		if strings.HasPrefix(name, session) || strings.HasSuffix(name, session) {
			paths = append(paths, path)
		}
	})
	for _, path := range paths {
		if nameOf(path) == session {
			paths = []string{path}
		}
	}
	switch {
	case err != nil:
		return Record{}, err
	case len(paths) == 0 || session == "":
		return Record{}, fmt.Errorf("%w: %q", ErrNoRecord, session)
	case len(paths) > 1:
		return Record{}, fmt.Errorf("%q is meant by %d records; write more of the name", session, len(paths))
	}
	return read(dir, paths[0])
}

// walk calls each for every file of a session. Links are not followed.
func walk(dir string, each func(path string)) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) == ".jsonl" && filepath.Dir(path) != filepath.Clean(dir) {
			each(path)
		}
		return orGone(err)
	})
	return orGone(err)
}

func nameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".jsonl") }

// read reads one file.
func read(dir, path string) (Record, error) {
	r := Record{Session: nameOf(path), Path: path}
	_, err := journal.Replay(path, r.add)
	r.sum()
	if info, err := os.Stat(path); err == nil && len(r.Lines) == 0 { // nothing was written of a session that runs
		r.Began = begun(r.Session, info.ModTime().UTC())
	}
	if r.Person == "" {
		r.Person = r.folder(dir)
	}
	return r, err
}

// add takes one line; one that is torn or not understood is passed over.
func (r *Record) add(text []byte) error {
	line, err := parse(text)
	if err != nil {
		return journal.ErrSkip
	}
	r.Lines = append(r.Lines, line)
	return nil
}

// folder is the folder of the person, from the folder of records.
func (r Record) folder(dir string) string {
	name, err := filepath.Rel(dir, filepath.Dir(r.Path))
	if err != nil {
		return filepath.Base(filepath.Dir(r.Path))
	}
	return filepath.ToSlash(name)
}

// sum draws from the lines what a list tells.
func (r *Record) sum() {
	if len(r.Lines) == 0 {
		return
	}
	first, last := r.Lines[0].At, r.Lines[len(r.Lines)-1].At
	if first = begun(r.Session, first); last.Before(first) {
		first = r.Lines[0].At
	}
	r.Began, r.Took = first, last.Sub(first).Milliseconds()
	for _, line := range r.Lines {
		switch e := line.Entry.(type) {
		case SessionStart:
			r.Person, r.Type, r.Agent, r.Model = e.WorkspaceKey, e.SessionType, e.AgentType, e.Model
		case SkillCall:
			r.Calls++
		case ReplySent:
			r.Replies++
		case SessionEnd:
			r.Ended, r.Success, r.Error = true, e.Success, e.Error
			r.Calls, r.Replies = e.SkillCallsCount, e.RepliesCount
			if e.DurationMs > 0 {
				r.Took = e.DurationMs
				r.Began = line.At.Add(-time.Duration(e.DurationMs) * time.Millisecond)
			}
		}
	}
}

// begun is when a session was opened, as its name says it; other where that says nothing.
func begun(session string, other time.Time) time.Time {
	parts := strings.Split(session, "_")
	if len(parts) != 3 {
		return other
	}
	ms, err := strconv.ParseInt(parts[1], 36, 64)
	at := time.UnixMilli(ms).UTC()
	if err != nil || at.After(other) || other.Sub(at) > 24*time.Hour {
		return other // a name of another kind, or of a process that waited
	}
	return at
}

// takes reports whether somebody's record of some time is wanted.
func (w Wanted) takes(person, folder string, at time.Time) bool {
	if at.Before(w.Since) {
		return false
	}
	if w.Person == "" || person == w.Person {
		return true
	}
	_, id, _ := strings.Cut(person, "/")
	return id == w.Person || folder == w.Person || strings.HasPrefix(folder, w.Person+"~")
}

// parse reads one line.
func parse(text []byte) (Line, error) {
	var raw lineJSON
	if err := json.Unmarshal(text, &raw); err != nil {
		return Line{}, err
	}
	at, err := time.Parse(iso, raw.TS)
	if err != nil {
		return Line{}, err
	}
	line := Line{At: at, Phase: raw.Phase, Data: raw.Data}
	if decode := decoders[raw.Phase]; decode != nil {
		if line.Entry, err = decode(raw.Data); err != nil {
			line.Entry = nil // written by another build: it is told by its phase
		}
	}
	return line, nil
}

// decoders has one entry for each phase.
var decoders = map[string]func(json.RawMessage) (Entry, error){
	TriggerReceived{}.Phase(): as[TriggerReceived], SessionStart{}.Phase(): as[SessionStart],
	RateLimitChecked{}.Phase(): as[RateLimitChecked], ContextAssembly{}.Phase(): as[ContextAssembly],
	YoloResolution{}.Phase(): as[YoloResolution], AgentConnect{}.Phase(): as[AgentConnect],
	PromptSent{}.Phase(): as[PromptSent], AgentMessage{}.Phase(): as[AgentMessage], SkillCall{}.Phase(): as[SkillCall],
	MemoryOperation{}.Phase(): as[MemoryOperation], AgentResponse{}.Phase(): as[AgentResponse],
	AgentCompleteMessage{}.Phase(): as[AgentCompleteMessage], AgentCompleteThought{}.Phase(): as[AgentCompleteThought],
	ReplySent{}.Phase(): as[ReplySent], ReplyEdited{}.Phase(): as[ReplyEdited], FileSent{}.Phase(): as[FileSent],
	RetryTriggered{}.Phase(): as[RetryTriggered], SessionEnd{}.Phase(): as[SessionEnd],
	PermissionApproved{}.Phase(): as[PermissionApproved], PermissionDenied{}.Phase(): as[PermissionDenied],
}

func as[E Entry](data json.RawMessage) (Entry, error) {
	var e E
	err := json.Unmarshal(data, &e)
	return e, err
}

// MarshalJSON writes the line as it stands in the file.
func (l Line) MarshalJSON() ([]byte, error) {
	return json.Marshal(lineJSON{l.At.UTC().Format(iso), l.Phase, l.Data})
}
