package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"familiar/internal/sheet"
)

// left are the names that no copy holds, at any depth: what is of a moment, and what belongs to other repositories
// (air-friends spec §7.7).
var left = []string{".git", "tmp", "SESSION_ID", "scheduler-state.json", ".DS_Store", "Thumbs.db"}

// leftOut reports whether a file below the folder has such a name, or lies in a folder that has.
func leftOut(name string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(name), "/"), func(part string) bool {
		return slices.Contains(left, part) || strings.EqualFold(part, ".git")
	})
}

// blob is a file as Git keeps it.
type blob struct {
	stamp sheet.Stamp
	mode  string
	hash  string
}

// tree writes the files below dir into the repository, and returns the hash of the tree that holds them. It reads only
// what has changed since it looked last. Folders that are repositories of their own are kept as what they hold.
func (b *Backup) tree(ctx context.Context) (string, error) {
	files, err := b.files()
	if err != nil {
		return "", fmt.Errorf("look at the files: %w", err)
	}
	var fresh []string
	for name, f := range files {
		if old, ok := b.known[name]; ok && old.stamp == f.stamp && old.mode == f.mode {
			f.hash = old.hash
			files[name] = f
			continue
		}
		fresh = append(fresh, name)
	}
	slices.Sort(fresh)
	if err := b.keep(ctx, files, fresh); err != nil {
		return "", err
	}
	b.known = files
	return b.assemble(ctx, files)
}

// keep hashes files into the repository. A file that is gone again is left out.
func (b *Backup) keep(ctx context.Context, files map[string]blob, names []string) error {
	const many = 500
	for batch := range slices.Chunk(names, many) {
		batch = slices.DeleteFunc(batch, func(name string) bool {
			info, err := os.Lstat(filepath.Join(b.dir, name))
			gone := err != nil || !info.Mode().IsRegular()
			if gone {
				delete(files, name)
			}
			return gone
		})
		if len(batch) == 0 {
			continue
		}
		paths := make([]string, len(batch))
		for i, name := range batch {
			paths[i] = filepath.Join(b.dir, name)
		}
		out, err := b.git.run(ctx, call{args: []string{"hash-object", "-w", "--no-filters", "--stdin-paths"},
			input: strings.NewReader(strings.Join(paths, "\n") + "\n")})
		if err != nil {
			return err
		}
		hashes := strings.Fields(out)
		if len(hashes) != len(batch) {
			return errors.New("git hash-object: it answered for another number of files")
		}
		for i, name := range batch {
			f := files[name]
			f.hash = hashes[i]
			files[name] = f
		}
	}
	return nil
}

// assemble makes a tree of files.
func (b *Backup) assemble(ctx context.Context, files map[string]blob) (string, error) {
	index := filepath.Join(b.git.dir, freshIndex)
	if err := os.Remove(index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var list strings.Builder
	for name, f := range files {
		fmt.Fprintf(&list, "%s %s\t%s\x00", f.mode, f.hash, filepath.ToSlash(name))
	}
	own := []string{"GIT_INDEX_FILE=" + index}
	if _, err := b.git.run(ctx, call{args: []string{"update-index", "-z", "--add", "--index-info"}, input: strings.NewReader(list.String()), env: own}); err != nil {
		return "", err
	}
	tree, err := b.git.run(ctx, call{args: []string{"write-tree"}, env: own})
	if err != nil {
		return "", err
	}
	if err := os.Rename(index, filepath.Join(b.git.dir, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err // there is none where there are no files
	}
	return tree, nil
}

// freshIndex is the index while it is made.
const freshIndex = "familiar-index"

// files lists what a copy holds. Links are not followed and not kept: where they lead to is not ours to copy.
func (b *Backup) files() (map[string]blob, error) {
	found := map[string]blob{}
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went away meanwhile
		}
		if err != nil {
			return err
		}
		if path != b.dir && slices.Contains(left, d.Name()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || strings.ContainsAny(path, "\n") {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(b.dir, path)
		if err != nil {
			return err
		}
		found[name] = blob{stamp: sheet.StampOf(info), mode: modeOf(info)}
		return nil
	})
	return found, err
}

// modeOf is the mode that Git knows a file by.
func modeOf(info fs.FileInfo) string {
	if info.Mode()&0o100 != 0 {
		return "100755"
	}
	return "100644"
}
