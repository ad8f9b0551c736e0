package memory

import (
	"context"

	"familiar/internal/chat"
)

// Tally counts memories. The importances are of those that are in use.
type Tally struct {
	Total            int `json:"total"`
	Enabled          int `json:"enabled"`
	Disabled         int `json:"disabled"`
	HighImportance   int `json:"highImportance"`
	NormalImportance int `json:"normalImportance"`
}

func (t *Tally) add(m Memory) {
	t.Total++
	switch {
	case !m.Enabled:
		t.Disabled++
		return
	case m.Importance == High:
		t.HighImportance++
	default:
		t.NormalImportance++
	}
	t.Enabled++
}

// Stats counts the memories of a person by what may be seen of them. Private is nil outside direct conversations.
type Stats struct {
	Public  Tally  `json:"public"`
	Private *Tally `json:"private"`
	Summary struct {
		TotalMemories         int `json:"totalMemories"`
		TotalEnabled          int `json:"totalEnabled"`
		TotalDisabled         int `json:"totalDisabled"`
		TotalHighImportance   int `json:"totalHighImportance"`
		TotalNormalImportance int `json:"totalNormalImportance"`
	} `json:"summary"`
}

// Stats counts what may be seen of a person.
func (s *Store) Stats(ctx context.Context, of chat.Person, private bool) (Stats, error) {
	all, err := s.All(ctx, of, private)
	if err != nil {
		return Stats{}, err
	}
	var st Stats
	if private {
		st.Private = &Tally{}
	}
	var sum Tally
	for _, m := range all {
		sum.add(m)
		if m.Visibility == Public {
			st.Public.add(m)
		} else {
			st.Private.add(m)
		}
	}
	st.Summary.TotalMemories, st.Summary.TotalEnabled, st.Summary.TotalDisabled = sum.Total, sum.Enabled, sum.Disabled
	st.Summary.TotalHighImportance, st.Summary.TotalNormalImportance = sum.HighImportance, sum.NormalImportance
	return st, nil
}
