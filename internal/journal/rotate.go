package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// rotate puts the present file aside as path.1, older ones one further, and begins a new file. What is beyond
// Keep is deleted.
func (j *Journal) rotate() error {
	if err := j.shift(); err != nil {
		return fmt.Errorf("rotate: %w", err)
	}
	old := j.file
	if err := j.open(); err != nil {
		// The old file still takes lines under its new name: better there than nowhere.
		return fmt.Errorf("rotate: %w", err)
	}
	return old.Close()
}

func (j *Journal) shift() error {
	if j.opts.Keep <= 0 {
		return os.Remove(j.path)
	}
	for n := j.opts.Keep - 1; n >= 1; n-- {
		err := os.Rename(j.aside(n), j.aside(n+1))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(j.path, j.aside(1))
}

func (j *Journal) aside(n int) string { return fmt.Sprintf("%s.%d", j.path, n) }
