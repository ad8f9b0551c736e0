// Package memory remembers people. Each person on a platform has two append-only files in their workspace, one
// for what may be known anywhere and one for what was said in private. A memory is a line that is never changed;
// patches are further lines, and what holds is the two resolved together. Nothing is ever deleted.
//
// The trust boundary is here: outside a direct conversation the private file is not opened, and only memories
// that resolve to public are shown. In a direct conversation both files are read. A memory or patch that was
// accepted is on the disk. One Store at a time writes a person's files; people may edit them by hand at any time.
package memory

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/chat"
)

// Visibility says where a memory may be shown.
type Visibility string

// The visibilities.
const (
	Public  Visibility = "public"  // anywhere
	Private Visibility = "private" // only between the person and us
)

// Importance says whether a memory is told at the start of every conversation, or found by searching.
type Importance string

// The importances.
const (
	High   Importance = "high"
	Normal Importance = "normal"
)

// Memory is one memory as it stands after its patches. It is a value; its lists must not be changed.
type Memory struct {
	ID         string
	At         time.Time // when it was saved
	ModifiedAt time.Time // when it was last patched; At when it never was
	Enabled    bool
	Visibility Visibility
	Importance Importance
	Content    string
	RelatedTo  []string
	Supersedes []string
	Standing   chat.Trust // the trust of the turn that wrote it; 0 when it lowers nobody: the owner's, or unknown

	file fileKind // where its line lies, whatever it resolves to
}

// Draft is a memory to be saved. Importance defaults to Normal.
type Draft struct {
	Content    string
	Importance Importance
	RelatedTo  []string
	Supersedes []string
	Standing   chat.Trust
}

// Changes are what a patch does; an unset field is left as it is. Lists are added to, never shortened.
type Changes struct {
	Enabled    *bool       `json:"enabled,omitempty"`
	Visibility *Visibility `json:"visibility,omitempty"`
	Importance *Importance `json:"importance,omitempty"`
	RelatedTo  []string    `json:"relatedTo,omitempty"`
	Supersedes []string    `json:"supersedes,omitempty"`
}

// Patch is a patch that was written.
type Patch struct {
	ID      string
	Target  string
	At      time.Time
	Changes Changes
}

var (
	// ErrNotFound says that there is no such memory, or none that may be seen from here.
	ErrNotFound = errors.New("there is no memory of that id here")
	// ErrInvalid refuses what no memory can hold; the error that wraps it says what and how to mend it.
	ErrInvalid = errors.New("invalid memory")
)

// The bounds of what is saved: far above any note about a person, far below the longest line of a file.
const (
	maxContent = 64 << 10 // bytes
	maxLinks   = 100      // entries of one list in one line
	maxLink    = 128      // bytes
)

func (d Draft) check() error {
	if strings.TrimSpace(d.Content) == "" {
		return fmt.Errorf("%w: content must not be empty", ErrInvalid)
	}
	if len(d.Content) > maxContent {
		return fmt.Errorf("%w: content is longer than %d bytes; save it in several memories", ErrInvalid, maxContent)
	}
	if d.Importance != High && d.Importance != Normal {
		return fmt.Errorf("%w: importance %q is neither high nor normal", ErrInvalid, d.Importance)
	}
	return errors.Join(checkLinks("relatedTo", d.RelatedTo), checkLinks("supersedes", d.Supersedes))
}

func (c Changes) check() error {
	if c.Enabled == nil && c.Visibility == nil && c.Importance == nil && len(c.RelatedTo)+len(c.Supersedes) == 0 {
		return fmt.Errorf("%w: nothing to change: give one of enabled, visibility, importance, relatedTo, supersedes",
			ErrInvalid)
	}
	if v := c.Visibility; v != nil && *v != Public && *v != Private {
		return fmt.Errorf("%w: visibility %q is neither public nor private", ErrInvalid, *v)
	}
	if i := c.Importance; i != nil && *i != High && *i != Normal {
		return fmt.Errorf("%w: importance %q is neither high nor normal", ErrInvalid, *i)
	}
	return errors.Join(checkLinks("relatedTo", c.RelatedTo), checkLinks("supersedes", c.Supersedes))
}

func checkLinks(name string, ids []string) error {
	if len(ids) > maxLinks {
		return fmt.Errorf("%w: %s has more than %d entries", ErrInvalid, name, maxLinks)
	}
	for _, id := range ids {
		if strings.TrimSpace(id) == "" || len(id) > maxLink {
			return fmt.Errorf("%w: %s must be ids of memories, such as mem_m3x1k2_0a1b2c", ErrInvalid, name)
		}
	}
	return nil
}

// Lower lets a turn fall to the trust of what it was told: whoever reads a memory that a less trusted turn
// wrote is not more trusted than that turn was.
func Lower(t chat.Turn, memories []Memory) {
	for _, m := range memories {
		if m.Standing != 0 {
			t.Standing.Fall(m.Standing)
		}
	}
}

// minter makes ids and the times in them. Both only rise, even when the clock is set back.
type minter struct {
	mu     sync.Mutex
	last   int64 // milliseconds
	suffix uint32
}

const suffixes = 36 * 36 * 36 * 36 * 36 * 36

// mint returns prefix_{base36 ms}_{6 base36} and the time in it, not before the millisecond least.
func (m *minter) mint(prefix string, now, least time.Time) (string, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ms := max(now.UnixMilli(), least.UnixMilli())
	if ms > m.last {
		var random [4]byte
		_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the program instead
		m.last, m.suffix = ms, binary.NativeEndian.Uint32(random[:])%suffixes
	} else {
		ms = m.last
		m.suffix = (m.suffix + 1) % suffixes
	}
	tail := strconv.FormatUint(uint64(m.suffix), 36)
	return prefix + "_" + strconv.FormatInt(ms, 36) + "_" + strings.Repeat("0", 6-len(tail)) + tail,
		time.UnixMilli(ms).UTC()
}
