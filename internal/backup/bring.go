package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/sheet"
)

// change is how one file differs between two trees.
type change struct {
	name     string // below the folder, as the system writes it
	was, is  string // what Git keeps of it; "" where there is none
	program  bool
	ordinary bool // a file: a link or a repository of its own is none that we made
}

// bring makes the files differ from one tree as another does. A file that is not as in the first is left alone: it was
// changed this very moment, and the next copy holds it. So is what no copy of ours holds, our own repository first of all:
// whoever may push would else write settings there that git runs programs by.
func (b *Backup) bring(ctx context.Context, from, to string) error {
	out, err := b.git.here(ctx, "diff-tree", "-r", "-z", "--no-renames", from, to)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var wanted []change
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		c, err := parseChange(fields[i], fields[i+1])
		if err != nil {
			return err
		}
		if leftOut(c.name) {
			continue
		}
		is, err := b.untouched(root, c)
		switch {
		case err != nil:
			return fmt.Errorf("bring %s: %w", c.name, err)
		case !is:
		case c.is == "":
			if err := root.Remove(c.name); err != nil {
				return fmt.Errorf("bring %s: %w", c.name, err)
			}
		case c.ordinary:
			wanted = append(wanted, c)
		}
	}
	return b.write(ctx, root, wanted)
}

// parseChange reads ":mode mode hash hash status", as Git's raw format has it.
func parseChange(text, name string) (c change, err error) {
	part := strings.Fields(text)
	if len(part) != 5 || !filepath.IsLocal(filepath.FromSlash(name)) {
		return c, fmt.Errorf("git diff-tree: %q of %q is not understood", text, name)
	}
	none := func(hash string) string {
		if strings.Trim(hash, "0") == "" {
			return ""
		}
		return hash
	}
	return change{name: filepath.FromSlash(name), was: none(part[2]), is: none(part[3]), program: part[1] == "100755",
		ordinary: part[1] == "100644" || part[1] == "100755"}, nil
}

// untouched reports whether a file is still what it was when the last copy was made, or still missing.
func (b *Backup) untouched(root *os.Root, c change) (bool, error) {
	info, err := root.Lstat(c.name)
	if errors.Is(err, fs.ErrNotExist) {
		return c.was == "", nil
	}
	if err != nil {
		return false, err
	}
	copied, known := b.known[c.name]
	return known && copied.hash == c.was && copied.stamp == sheet.StampOf(info), nil
}

// How much of the repository is read at once.
const (
	mostFiles = 500
	mostBytes = 32 << 20 // of a single file more
)

// write writes files as they are in the repository.
func (b *Backup) write(ctx context.Context, root *os.Root, wanted []change) error {
	for batch := range slices.Chunk(wanted, mostFiles) {
		sizes, err := b.sizes(ctx, batch)
		if err != nil {
			return err
		}
		batch, sizes = b.bearable(batch, sizes)
		for len(batch) > 0 {
			n, sum := 1, sizes[0]
			for n < len(batch) && sum+sizes[n] <= mostBytes {
				sum += sizes[n]
				n++
			}
			if err := b.writeSome(ctx, root, batch[:n]); err != nil {
				return err
			}
			batch, sizes = batch[n:], sizes[n:]
		}
	}
	return nil
}

// bearable leaves files out that are larger than any of a copy: they come from elsewhere, and the rest is not to wait for them.
func (b *Backup) bearable(files []change, sizes []int) (fit []change, of []int) {
	for i, c := range files {
		if sizes[i] > mostFile {
			b.log.Warn("a file of the backup is not brought here", "file", c.name, "err", errTooLarge)
			continue
		}
		fit, of = append(fit, c), append(of, sizes[i])
	}
	return fit, of
}

// names lists what files are in the repository, for git to read.
func names(files []change) *strings.Reader {
	var list strings.Builder
	for _, c := range files {
		list.WriteString(c.is + "\n")
	}
	return strings.NewReader(list.String())
}

// sizes are those of files in the repository.
func (b *Backup) sizes(ctx context.Context, files []change) (all []int, err error) {
	out, err := b.git.run(ctx, call{args: []string{"cat-file", "--batch-check=%(objectsize)"}, input: names(files)})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		size, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("git cat-file: %q is not understood", line)
		}
		all = append(all, size)
	}
	if len(all) != len(files) {
		return nil, errors.New("git cat-file: it answered for another number of files")
	}
	return all, nil
}

// writeSome writes files that are read at once.
func (b *Backup) writeSome(ctx context.Context, root *os.Root, files []change) error {
	rest, err := b.git.output(ctx, call{args: []string{"cat-file", "--batch"}, input: names(files)})
	if err != nil {
		return err
	}
	for _, c := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		head, after, _ := bytes.Cut(rest, []byte("\n"))
		part := strings.Fields(string(head)) // hash, type, size; the text and an end of line come after it
		if len(part) != 3 || part[0] != c.is || part[1] != "blob" {
			return fmt.Errorf("bring %s: git cat-file: %q is not understood", c.name, head)
		}
		size, err := strconv.Atoi(part[2])
		if err != nil || size < 0 || size >= len(after) {
			return fmt.Errorf("bring %s: git cat-file: the file is cut off", c.name)
		}
		if err := place(root, c.name, after[:size], c.program); err != nil {
			return fmt.Errorf("bring %s: %w", c.name, err)
		}
		rest = after[size+1:]
	}
	return nil
}

// freshFile is a file while it is written: in our repository, since beside the file there may be no room for a longer name.
var freshFile = filepath.Join(".git", "familiar-file")

// place writes a file, whole or not at all.
func place(root *os.Root, name string, text []byte, program bool) error {
	mode := fs.FileMode(0o600)
	if program {
		mode = 0o700
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	_ = root.Remove(freshFile) // a crash may have left it, with another mode
	out, err := root.OpenFile(freshFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = root.Rename(freshFile, name)
	}
	if err != nil {
		_ = root.Remove(freshFile)
	}
	return err
}
