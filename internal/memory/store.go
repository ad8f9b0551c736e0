package memory

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/memory/index"
)

// Store keeps the memories of all people. Safe for concurrent use; every call reads or writes files and may
// wait for another call about the same person.
type Store struct {
	cfg    limits
	folder func(platform, user string) (string, error)
	index  *index.Index // nil: everything is read
	log    *slog.Logger
	people people
	ids    minter
	due    due
	tail   int64 // bytes: see maxTail
	most   int64 // bytes: see maxHeld
	looks  bool  // it makes no files
}

// Open returns a store. folder makes sure that a person's workspace folder is there and returns its path. x, which
// may be nil, is what long files are found in; Keep keeps it.
func Open(cfg Config, folder func(platform, user string) (string, error), x *index.Index, log *slog.Logger) *Store {
	s := &Store{folder: folder, index: x, log: log,
		people: people{all: map[who]*person{}, order: list.New()}, due: newDue(), tail: maxTail, most: maxHeld}
	s.Reload(cfg)
	return s
}

// Reload searches from now on within the bounds of another checked configuration.
func (s *Store) Reload(cfg Config) { s.cfg.Store(&cfg) }

// Look returns a store that only reads, for whoever looks at a bot that may be running: it makes no files, and uses no
// index. Save and Patch are refused.
func Look(cfg Config, folder func(platform, user string) (string, error), log *slog.Logger) *Store {
	s := Open(cfg, folder, nil, log)
	s.looks = true
	return s
}

// errLooks refuses to write.
var errLooks = errors.New("these memories are only looked at")

// Save remembers something about a person: privately when it was said in a direct conversation. An invalid
// draft is ErrInvalid. When it returns without an error the memory is on the disk.
func (s *Store) Save(ctx context.Context, of chat.Person, private bool, d Draft) (Memory, error) {
	if d.Importance == "" {
		d.Importance = Normal
	}
	if err := d.check(); err != nil {
		return Memory{}, err
	}
	p, err := s.take(ctx, of, true)
	if err != nil {
		return Memory{}, fmt.Errorf("save memory: %w", err)
	}
	defer s.people.give(p)
	kind := publicFile
	if private {
		kind = privateFile
	}
	m := Memory{Enabled: true, Visibility: kind.visibility(), Importance: d.Importance,
		Content: strings.ToValidUTF8(d.Content, "\ufffd"), RelatedTo: union(nil, d.RelatedTo),
		Supersedes: union(nil, d.Supersedes), Standing: d.Standing, file: kind}
	m.ID, m.At = s.ids.mint("mem", time.Now(), time.Time{})
	m.ModifiedAt = m.At
	raw, err := m.encode()
	if err != nil {
		return Memory{}, fmt.Errorf("save memory: %w", err)
	}
	if err := p.write(kind, raw); err != nil {
		return Memory{}, fmt.Errorf("save memory: %w", err)
	}
	return m, nil
}

// Patch changes what holds of a memory: ErrNotFound when it cannot be seen from here, ErrInvalid when there is
// nothing to change. The patch goes to the file that holds the memory, so that it counts everywhere.
func (s *Store) Patch(ctx context.Context, of chat.Person, private bool, id string, c Changes) (Patch, error) {
	if err := c.check(); err != nil {
		return Patch{}, err
	}
	p, err := s.take(ctx, of, true)
	if err != nil {
		return Patch{}, fmt.Errorf("patch memory: %w", err)
	}
	defer s.people.give(p)
	target, err := s.target(ctx, p, private, id)
	if err != nil {
		return Patch{}, fmt.Errorf("patch memory: %w", err)
	}
	c.RelatedTo, c.Supersedes = union(nil, c.RelatedTo), union(nil, c.Supersedes)
	one := Patch{Target: id, Changes: c}
	// Patches count in the order of their times: this one must come after the last, whatever the clock says.
	one.ID, one.At = s.ids.mint("patch", time.Now(), target.ModifiedAt.Add(time.Millisecond))
	raw, err := one.encode()
	if err != nil {
		return Patch{}, fmt.Errorf("patch memory: %w", err)
	}
	if err := p.write(target.file, raw); err != nil {
		return Patch{}, fmt.Errorf("patch memory: %w", err)
	}
	return one, nil
}

// target returns the memory of an id that may be seen: ErrNotFound when there is none.
func (s *Store) target(ctx context.Context, p *person, private bool, id string) (found Memory, err error) {
	known := false
	err = s.try(ctx, p, private, func(v *view) error {
		if at := slices.IndexFunc(v.memories, func(m Memory) bool { return m.ID == id }); at >= 0 {
			found, known = v.memories[at], true
			return nil
		}
		for _, one := range v.far {
			if found, known, err = one.seek(ctx, p, id); known || err != nil {
				return err
			}
		}
		for _, one := range v.indexed {
			if found, known, err = one.find(ctx, s.index, p, id); known || err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !known {
		err = ErrNotFound
	}
	return found, err
}

// Important returns what is told at the start of a conversation: enabled memories of high importance that may
// be seen there, the oldest first.
func (s *Store) Important(ctx context.Context, of chat.Person, private bool) ([]Memory, error) {
	hits, err := s.hits(ctx, of, private, query{Query: Query{Importance: High}}, math.MaxInt32)
	if err != nil {
		return nil, fmt.Errorf("load important memories: %w", err)
	}
	slices.Reverse(hits)
	return memoriesOf(hits), nil
}

// All returns every memory that may be seen there, disabled ones too, the oldest first. It reads the files from
// their beginning where they are indexed.
func (s *Store) All(ctx context.Context, of chat.Person, private bool) (all []Memory, err error) {
	err = s.seeing(ctx, of, private, func(p *person, v *view) error {
		if len(v.indexed)+len(v.far) == 0 {
			all = slices.Clone(v.memories)
			return nil
		}
		files := []file{{kind: publicFile}, {kind: privateFile}}
		if !private {
			files = files[:1]
		}
		for i := range files {
			if _, err := files[i].load(p.folder, func(*file, *os.File, int64) {}); err != nil {
				return err
			}
		}
		all = visible(private, files)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load memories: %w", err)
	}
	return all, nil
}

// seeing calls do with a person, locked, and what may be seen of them in one kind of place; see try.
func (s *Store) seeing(ctx context.Context, of chat.Person, private bool, do func(*person, *view) error) error {
	p, err := s.take(ctx, of, false)
	if err != nil {
		return err
	}
	defer s.people.give(p)
	return s.try(ctx, p, private, func(v *view) error { return do(p, v) })
}

// tries is how often an index that moved is looked for again.
const tries = 3

// try calls do with what may be seen of a person; where do fails in an index, again with a view that needs none, so
// that a broken index costs time and no answer.
func (s *Store) try(ctx context.Context, p *person, private bool, do func(*view) error) error {
	for n := 1; ; n++ {
		v, err := s.view(ctx, p, private)
		if err != nil {
			return err
		}
		err = do(v)
		if err == nil || ctx.Err() != nil || len(v.indexed) == 0 {
			return err
		}
		broken := n > tries || !errors.Is(err, errMoved)
		if broken {
			s.log.Warn("the index of memories is not used until it is built anew", chat.KeyPlatform, p.who.platform,
				chat.KeyPerson, p.who.id, chat.KeyErr, err)
		}
		p.anew(private, broken)
	}
}

// take returns a person with their folder, locked. The folder is made sure of at the first use, and before
// every write.
func (s *Store) take(ctx context.Context, of chat.Person, write bool) (*person, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.looks && write {
		return nil, errLooks
	}
	p := s.people.take(of)
	if p.folder != "" && !write {
		return p, nil
	}
	folder, err := s.folder(of.Platform, of.ID)
	if err != nil {
		s.people.give(p)
		return nil, err
	}
	if s.looks {
		p.folder = folder
		return p, nil
	}
	if err := ensure(folder); err != nil && write { // a full disk must not keep anybody from reading
		s.people.give(p)
		return nil, err
	}
	p.folder = folder
	return p, nil
}

func (s *Store) view(ctx context.Context, p *person, private bool) (*view, error) {
	v, skipped, err := p.view(private, func(f *file) (bool, error) { return s.load(ctx, p, f) })
	if err == nil && skipped > 0 {
		s.log.Warn("lines of a memory file were skipped: they are not readable", chat.KeyPlatform, p.who.platform,
			chat.KeyPerson, p.who.id, "lines", skipped)
	}
	return v, err
}

// write appends a line to one of the files.
func (p *person) write(kind fileKind, raw []byte) error {
	p.forget()
	return p.files[kind].append(p.folder, raw)
}
