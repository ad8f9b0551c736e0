package memory

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

var (
	//go:embed save.md
	saveDoc string
	//go:embed search.md
	searchDoc string
	//go:embed patch.md
	patchDoc string
	//go:embed list.md
	listDoc string
)

// Tools returns memory-save, memory-search, memory-patch and memory-list. Each acts for the person whom the turn is
// from, and in private when the turn is in a direct conversation. notes may be nil.
func Tools(s *Store, notes *Notes) []tool.Tool {
	k := kit{s, notes}
	return []tool.Tool{
		tool.New(tool.Tool{Name: "memory-save", Doc: saveDoc, Effect: tool.Writes, Needs: chat.Foreign}, k.save),
		tool.New(tool.Tool{Name: "memory-search", Doc: searchDoc, Effect: tool.Reads, Needs: chat.Foreign}, k.search),
		tool.New(tool.Tool{Name: "memory-patch", Doc: patchDoc, Effect: tool.Writes, Needs: chat.Foreign}, k.patch),
		tool.New(tool.Tool{Name: "memory-list", Doc: listDoc, Effect: tool.Reads, Needs: chat.Foreign}, k.list),
	}
}

// kit is what the tools work on.
type kit struct {
	store *Store
	notes *Notes
}

type saveArgs struct {
	Content    string   `json:"content" jsonschema:"the fact to remember, understandable by itself"`
	Importance string   `json:"importance,omitempty" jsonschema:"high or normal; normal when left out"`
	RelatedTo  []string `json:"relatedTo,omitempty" jsonschema:"ids of memories that this one belongs with"`
	Supersedes []string `json:"supersedes,omitempty" jsonschema:"ids of memories that this one replaces"`
}

type saved struct {
	ID         string     `json:"id"`
	Content    string     `json:"content"`
	Visibility Visibility `json:"visibility"`
	Importance Importance `json:"importance"`
	Timestamp  string     `json:"timestamp"`
	RelatedTo  []string   `json:"relatedTo,omitempty"`
	Supersedes []string   `json:"supersedes,omitempty"`
}

func (k kit) save(ctx context.Context, t chat.Turn, a saveArgs) (saved, error) {
	private, err := k.private(ctx, t, a.Supersedes)
	if err != nil {
		return saved{}, err
	}
	m, err := k.store.Save(ctx, t.From, private, Draft{Content: a.Content,
		Importance: Importance(a.Importance), RelatedTo: a.RelatedTo, Supersedes: a.Supersedes,
		Standing: t.Standing.Now()})
	if err != nil {
		return saved{}, fault("memory-save", err)
	}
	return saved{m.ID, m.Content, m.Visibility, m.Importance, stampText(m.At), m.RelatedTo, m.Supersedes}, nil
}

type searchArgs struct {
	Query string `json:"query" jsonschema:"words to look for, taken literally; more matching words rank higher; quote a phrase"`
	Limit *int   `json:"limit,omitempty" jsonschema:"the most memories and notes to return, 1 to 100; 10 when left out"`
	Since string `json:"since,omitempty" jsonschema:"only memories saved on that day or later, as in 2026-01-31; or a moment in ISO 8601"`
	Until string `json:"until,omitempty" jsonschema:"only memories saved on that day or earlier; or before a moment in ISO 8601"`
}

// told is a memory as a search tells it.
type told struct {
	ID             string     `json:"id"`
	Enabled        bool       `json:"enabled"`
	Visibility     Visibility `json:"visibility"`
	Importance     Importance `json:"importance"`
	Content        string     `json:"content"`
	CreatedAt      string     `json:"createdAt"`
	LastModifiedAt string     `json:"lastModifiedAt"`
	RelatedTo      []string   `json:"relatedTo"`
	Supersedes     []string   `json:"supersedes"`
}

// found has the memories under two names: skills of both generations look for theirs.
type found struct {
	UserMemories []told `json:"userMemories"`
	Memories     []told `json:"memories"`
	AgentNotes   []Note `json:"agentNotes"`
}

func tell(m Memory) told {
	return told{m.ID, m.Enabled, m.Visibility, m.Importance, m.Content,
		stampText(m.At), stampText(m.ModifiedAt), present(m.RelatedTo), present(m.Supersedes)}
}

func (k kit) search(ctx context.Context, t chat.Turn, a searchArgs) (found, error) {
	limit := k.store.cfg.Load().SearchLimit
	if a.Limit != nil {
		if limit = *a.Limit; limit < 1 {
			return found{}, tool.Bad("memory-search: limit must be 1 or more, not %d", limit)
		}
	}
	q := Query{Words: a.Query, Limit: limit}
	var err error
	if q.Since, q.Until, err = Period(a.Since, a.Until, time.Local); err != nil {
		return found{}, fault("memory-search", err)
	}
	memories, err := k.store.Find(ctx, t.From, t.Place.Private(), q)
	if err != nil {
		return found{}, fault("memory-search", err)
	}
	Lower(t, memories)
	answer := found{UserMemories: make([]told, 0, len(memories)), AgentNotes: []Note{}}
	for _, m := range memories {
		answer.UserMemories = append(answer.UserMemories, tell(m))
	}
	answer.Memories = answer.UserMemories
	if k.notes != nil && q.Since.IsZero() && q.Until.IsZero() { // nobody knows when a line of a note was written
		notes, err := k.notes.Search(ctx, a.Query, min(limit, maxLimit))
		if err != nil {
			return found{}, err
		}
		answer.AgentNotes = append(answer.AgentNotes, notes...)
		if slices.ContainsFunc(notes, func(n Note) bool { return n.Foreign }) {
			t.Standing.Fall(chat.Foreign)
		}
	}
	return answer, nil
}

// listed is the answer of memory-list: the newest of total memories, newest first.
type listed struct {
	Memories []told `json:"memories"`
	Total    int    `json:"total"`
}

func (k kit) list(ctx context.Context, t chat.Turn, _ struct{}) (listed, error) {
	all, err := k.store.All(ctx, t.From, t.Place.Private())
	if err != nil {
		return listed{}, fault("memory-list", err)
	}
	all = slices.DeleteFunc(all, func(m Memory) bool { return !m.Enabled })
	newest := all[max(0, len(all)-maxLimit):]
	Lower(t, newest)
	answer := listed{Memories: []told{}, Total: len(all)}
	for _, m := range slices.Backward(newest) {
		answer.Memories = append(answer.Memories, tell(m))
	}
	return answer, nil
}

type patchArgs struct {
	MemoryID   string      `json:"memory_id" jsonschema:"the id of the memory to change"`
	Enabled    *bool       `json:"enabled,omitempty" jsonschema:"false: it is no longer told or found; true: it is again"`
	Visibility *Visibility `json:"visibility,omitempty" jsonschema:"public or private"`
	Importance *Importance `json:"importance,omitempty" jsonschema:"high or normal"`
	RelatedTo  []string    `json:"relatedTo,omitempty" jsonschema:"ids to add to the related memories"`
	Supersedes []string    `json:"supersedes,omitempty" jsonschema:"ids to add to the memories that it replaces"`
}

type patched struct {
	PatchID   string  `json:"patchId"`
	TargetID  string  `json:"targetId"`
	Timestamp string  `json:"timestamp"`
	Changes   Changes `json:"changes"`
}

func (k kit) patch(ctx context.Context, t chat.Turn, a patchArgs) (patched, error) {
	if strings.TrimSpace(a.MemoryID) == "" {
		return patched{}, tool.Bad("memory-patch: memory_id must not be empty; memory-search tells ids")
	}
	if err := uncovers(t, a.Visibility); err != nil {
		return patched{}, err
	}
	p, err := k.store.Patch(ctx, t.From, t.Place.Private(), strings.TrimSpace(a.MemoryID),
		Changes{a.Enabled, a.Visibility, a.Importance, a.RelatedTo, a.Supersedes})
	if err != nil {
		return patched{}, fault("memory-patch", err)
	}
	return patched{p.ID, p.Target, stampText(p.At), p.Changes}, nil
}

// fault turns what the caller can mend into an answer to it.
func fault(name string, err error) error {
	if errors.Is(err, ErrInvalid) || errors.Is(err, ErrNotFound) {
		return tool.Bad("%s: %v", name, err)
	}
	return err
}

func stampText(at time.Time) string { return at.UTC().Format(iso) }

// present returns ids as a list that is never null.
func present(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}
