package memory

import (
	"context"
	_ "embed"
	"slices"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

var (
	//go:embed stats.md
	statsDoc string
	//go:embed export.md
	exportDoc string
)

// Deliver sends a file to the person of a turn where nobody else can read it. A tool.Fault says why it cannot be.
type Deliver func(ctx context.Context, t chat.Turn, file Export) (chat.MessageID, error)

// AloneTools returns memory-stats, and memory-export where deliver is not nil.
func AloneTools(s *Store, deliver Deliver) []tool.Tool {
	k := teller{s, deliver}
	all := []tool.Tool{tool.New(tool.Tool{Name: "memory-stats", Doc: statsDoc, Effect: tool.Reads, Needs: chat.Foreign}, k.stats)}
	if deliver != nil {
		all = append(all, tool.New(tool.Tool{Name: "memory-export", Doc: exportDoc, Effect: tool.Speaks, Needs: chat.Public}, k.export))
	}
	return all
}

type teller struct {
	store   *Store
	deliver Deliver
}

func (k teller) stats(ctx context.Context, t chat.Turn, _ struct{}) (Stats, error) {
	st, err := k.store.Stats(ctx, t.From, t.Place.Private())
	if err != nil {
		return Stats{}, fault("memory-stats", err)
	}
	return st, nil
}

type exportArgs struct {
	Format      string `json:"format,omitempty" jsonschema:"markdown or json; markdown when left out"`
	Importance  string `json:"importance,omitempty" jsonschema:"high, normal or all; all when left out"`
	EnabledOnly *bool  `json:"enabled_only,omitempty" jsonschema:"false: memories that are no longer used, too; true when left out"`
}

// sentExport is the answer of memory-export. It holds nothing of what was sent.
type sentExport struct {
	Count     int            `json:"count"`
	Format    string         `json:"format"`
	FileName  string         `json:"fileName"`
	MessageID chat.MessageID `json:"messageId"`
}

// every says that memories of any importance are meant.
const every = "all"

// export always takes both files: what goes to the person alone may hold what is between them and us.
func (k teller) export(ctx context.Context, t chat.Turn, a exportArgs) (sentExport, error) {
	if a.Format == "" {
		a.Format = asMarkdown
	}
	if a.Importance == "" {
		a.Importance = every
	}
	switch {
	case a.Format != asMarkdown && a.Format != asJSON:
		return sentExport{}, tool.Bad("memory-export: format %q is neither markdown nor json", a.Format)
	case a.Importance != every && a.Importance != string(High) && a.Importance != string(Normal):
		return sentExport{}, tool.Bad("memory-export: importance %q is none of high, normal and all", a.Importance)
	}
	all, err := k.store.All(ctx, t.From, true)
	if err != nil {
		return sentExport{}, fault("memory-export", err)
	}
	all = slices.DeleteFunc(all, func(m Memory) bool {
		return !m.Enabled && (a.EnabledOnly == nil || *a.EnabledOnly) || a.Importance != every && a.Importance != string(m.Importance)
	})
	file, err := export(all, a.Format)
	if err != nil {
		return sentExport{}, err
	}
	id, err := k.deliver(ctx, t, file)
	if err != nil {
		return sentExport{}, err
	}
	return sentExport{len(all), a.Format, file.Name, id}, nil
}
