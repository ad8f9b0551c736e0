package memory

import (
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"familiar/internal/chat"
)

// Store keeps the memories of all people. Safe for concurrent use; every call reads or writes files and may
// wait for another call about the same person.
type Store struct {
	cfg    Config
	folder func(platform, user string) (string, error)
	log    *slog.Logger
	people people
	ids    minter
}

// Open returns a store. folder makes sure that a person's workspace folder is there and returns its path.
func Open(cfg Config, folder func(platform, user string) (string, error), log *slog.Logger) *Store {
	return &Store{cfg: cfg, folder: folder, log: log,
		people: people{all: map[who]*person{}, order: list.New()}}
}

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
	v, err := s.view(p, private)
	if err != nil {
		return Patch{}, fmt.Errorf("patch memory: %w", err)
	}
	at := slices.IndexFunc(v.memories, func(m Memory) bool { return m.ID == id })
	if at < 0 {
		return Patch{}, ErrNotFound
	}
	c.RelatedTo, c.Supersedes = union(nil, c.RelatedTo), union(nil, c.Supersedes)
	one := Patch{Target: id, Changes: c}
	// Patches count in the order of their times: this one must come after the last, whatever the clock says.
	one.ID, one.At = s.ids.mint("patch", time.Now(), v.memories[at].ModifiedAt.Add(time.Millisecond))
	raw, err := one.encode()
	if err != nil {
		return Patch{}, fmt.Errorf("patch memory: %w", err)
	}
	if err := p.write(v.memories[at].file, raw); err != nil {
		return Patch{}, fmt.Errorf("patch memory: %w", err)
	}
	return one, nil
}

// Important returns what is told at the start of a conversation: enabled memories of high importance that may
// be seen there, the oldest first.
func (s *Store) Important(ctx context.Context, of chat.Person, private bool) ([]Memory, error) {
	v, err := s.look(ctx, of, private)
	if err != nil {
		return nil, fmt.Errorf("load important memories: %w", err)
	}
	var found []Memory
	for _, m := range v.memories {
		if m.Enabled && m.Importance == High {
			found = append(found, m)
		}
	}
	return found, nil
}

// Search finds enabled memories by the words of query (see keywords), the best first and among equals the
// newest: at most limit of them (memory.searchLimit when limit is 0, never more than 100), and at most
// memory.maxChars characters together. No query is an error except a blank one, which is ErrInvalid.
func (s *Store) Search(ctx context.Context, of chat.Person, private bool, query string, limit int) ([]Memory, error) {
	words := keywords(query)
	if len(words) == 0 {
		return nil, fmt.Errorf("%w: query must not be blank", ErrInvalid)
	}
	v, err := s.look(ctx, of, private)
	if err != nil {
		return nil, fmt.Errorf("search memories: %w", err)
	}
	return fit(v.search(words), s.cfg.limit(limit), s.cfg.MaxChars), nil
}

// All returns every memory that may be seen there, disabled ones too, the oldest first.
func (s *Store) All(ctx context.Context, of chat.Person, private bool) ([]Memory, error) {
	v, err := s.look(ctx, of, private)
	if err != nil {
		return nil, fmt.Errorf("load memories: %w", err)
	}
	return slices.Clone(v.memories), nil
}

// look returns what may be seen of a person in one kind of place.
func (s *Store) look(ctx context.Context, of chat.Person, private bool) (*view, error) {
	p, err := s.take(ctx, of, false)
	if err != nil {
		return nil, err
	}
	defer s.people.give(p)
	return s.view(p, private)
}

// take returns a person with their folder, locked. The folder is made sure of at the first use, and before
// every write.
func (s *Store) take(ctx context.Context, of chat.Person, write bool) (*person, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
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
	if err := ensure(folder); err != nil && write { // a full disk must not keep anybody from reading
		s.people.give(p)
		return nil, err
	}
	p.folder = folder
	return p, nil
}

func (s *Store) view(p *person, private bool) (*view, error) {
	v, skipped, err := p.view(private)
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
