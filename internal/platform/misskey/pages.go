package misskey

// pageSize is the most that one call tells of a list.
const pageSize = 100

// back reads a list from its newest end on, as far as take wants more of it and most pages reach. A short page need not
// be the last: some lists leave out of theirs what we may not see.
func back[T any](most int, id func(T) string, page func(untilID string) ([]T, error), take func(T) bool) error {
	untilID := ""
	for range most {
		got, err := page(untilID)
		if err != nil || len(got) == 0 {
			return err
		}
		for _, v := range got {
			if !take(v) {
				return nil
			}
		}
		last := id(got[len(got)-1])
		if last == untilID {
			return nil
		}
		untilID = last
	}
	return nil
}

func (n note) id() string        { return n.ID }
func (c chatMessage) id() string { return c.ID }
