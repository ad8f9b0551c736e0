package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// errApart says that the remote repository and the data here were changed in the same files.
var errApart = errors.New("the remote repository went another way, and the two cannot be brought together")

// push sends our branch. Where the remote one has moved on, what is new there is taken over first.
func (b *Backup) push(ctx context.Context) error {
	err := b.send(ctx)
	if err == nil {
		return nil
	}
	theirs, fetchErr := b.fetch(ctx)
	if fetchErr != nil || theirs == "" {
		return errors.Join(err, fetchErr)
	}
	if err := b.rebase(ctx, theirs); err != nil {
		return err
	}
	return b.send(ctx)
}

func (b *Backup) send(ctx context.Context) error {
	far, err := b.farBranch(ctx)
	if err != nil {
		return err
	}
	return b.sendTo(ctx, far)
}

func (b *Backup) sendTo(ctx context.Context, far string) error {
	_, err := b.git.away(ctx, "push", "--quiet", b.cfg.RemoteURL, b.ref+":refs/heads/"+far)
	return err
}

// farBranch is the default branch of the remote repository, as it says itself; our own name in an empty one.
func (b *Backup) farBranch(ctx context.Context) (string, error) {
	out, err := b.git.away(ctx, "ls-remote", "--symref", b.cfg.RemoteURL, "HEAD")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if ref, ok := strings.CutPrefix(line, "ref: refs/heads/"); ok {
			name, _, _ := strings.Cut(ref, "\t")
			return strings.TrimSpace(name), nil
		}
	}
	return branch, nil
}

// fetch gets the default branch of the remote repository and returns its newest commit; "" from an empty one.
func (b *Backup) fetch(ctx context.Context) (string, error) {
	heads, err := b.git.away(ctx, "ls-remote", "--heads", b.cfg.RemoteURL)
	if err != nil || heads == "" {
		return "", err
	}
	far, err := b.farBranch(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range []string{far, "master", branch} { // one whose default branch does not exist
		if !strings.Contains(heads+"\n", "\trefs/heads/"+name+"\n") {
			continue
		}
		if _, err := b.git.away(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", b.cfg.RemoteURL, "refs/heads/"+name); err != nil {
			return "", err
		}
		return b.git.here(ctx, "rev-parse", "FETCH_HEAD")
	}
	return "", nil
}

// rebase puts what is new here on top of theirs, and brings what is new there to the files.
func (b *Backup) rebase(ctx context.Context, theirs string) error {
	ours, err := b.tip(ctx)
	if err != nil {
		return err
	}
	base, err := b.git.here(ctx, "merge-base", ours, theirs)
	if code(err) == 1 {
		return errApart // they have nothing in common
	}
	if err != nil {
		return err
	}
	if base == theirs {
		return nil // nothing is new there
	}
	merged, err := b.git.here(ctx, "merge-tree", "--write-tree", "--no-messages", ours, theirs)
	if code(err) == 1 {
		return errApart
	}
	if err != nil {
		return err
	}
	if err := b.bring(ctx, ours, merged); err != nil {
		return err
	}
	_, err = b.record(ctx, []string{"commit-tree", merged, "-p", theirs, "-m", "backup: " + b.now().UTC().Format("2006-01-02T15:04:05.000Z")})
	return err
}

// adopt takes over a whole commit, into a folder that has no files, or some of that commit's.
func (b *Backup) adopt(ctx context.Context, commit string) error {
	mark := filepath.Join(b.git.dir, unfinished)
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return err
	}
	empty, err := b.git.run(ctx, call{args: []string{"mktree"}, input: strings.NewReader("")})
	if err != nil {
		return err
	}
	if err := b.bring(ctx, empty, commit); err != nil {
		return err
	}
	if _, err = b.git.here(ctx, "update-ref", b.ref, commit); err != nil {
		return err
	}
	return os.Remove(mark)
}

// bring makes the files differ from one tree as another does. A file that is not as in the first is left alone: it was
// changed this very moment, and the next copy holds it.
func (b *Backup) bring(ctx context.Context, from, to string) error {
	out, err := b.git.here(ctx, "diff-tree", "-r", "-z", "--no-renames", from, to)
	if err != nil {
		return err
	}
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if err := b.bringOne(ctx, fields[i], fields[i+1]); err != nil {
			return fmt.Errorf("bring %s: %w", fields[i+1], err)
		}
	}
	return nil
}

// bringOne brings one file; change is ":mode mode hash hash status", as Git's raw format has it.
func (b *Backup) bringOne(ctx context.Context, change, name string) error {
	part := strings.Fields(change)
	if len(part) != 5 || !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("git diff-tree: %q is not understood", change)
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	mode, was, is := part[1], part[2], part[3]
	if now, err := b.hashOf(ctx, root, name); err != nil || strings.Trim(was, "0") != now {
		return err
	}
	if strings.Trim(is, "0") == "" {
		return root.Remove(name)
	}
	if mode != "100644" && mode != "100755" {
		return nil // a link or a repository of its own: none that we made
	}
	text, err := b.git.output(ctx, call{args: []string{"cat-file", "blob", is}})
	if err != nil {
		return err
	}
	return place(root, name, text, mode == "100755")
}

// hashOf is what Git would call a file; "" when there is none.
func (b *Backup) hashOf(ctx context.Context, root *os.Root, name string) (string, error) {
	text, err := root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return b.git.run(ctx, call{args: []string{"hash-object", "--no-filters", "--stdin"}, input: bytes.NewReader(text)})
}

// place writes a file, whole or not at all.
func place(root *os.Root, name string, text []byte, program bool) error {
	mode := fs.FileMode(0o600)
	if program {
		mode = 0o700
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	fresh := name + ".new"
	out, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = root.Rename(fresh, name)
	}
	if err != nil {
		_ = root.Remove(fresh)
	}
	return err
}
