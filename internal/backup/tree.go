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
// what has changed since it looked last. Folders that are repositories of their own are kept as what they hold. What
// cannot be kept is noted, and the rest is kept without it: whoever is handed a folder of ours could else end all copies
// by one file in it.
func (b *Backup) tree(ctx context.Context) (string, error) {
	b.lacks = lack{}
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
		if err != nil {
			return b.missed(path, err)
		}
		if path != b.dir && slices.Contains(left, d.Name()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return b.missed(path, err)
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
