package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var (
	// errApart says that the remote repository and the data here were changed in the same files.
	errApart = errors.New("the remote repository went another way, and the two cannot be brought together")
	// errRefused says that the remote repository can be reached and has nothing new, and does not take our branch.
	errRefused = errors.New("the remote repository does not take the branch, as where it is protected")
)

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
	if err := b.send(ctx); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return nil
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

// setAside sends our branch under a name of its own, unless a branch there holds the same already, and returns that name.
func (b *Backup) setAside(ctx context.Context) (name string, err error) {
	ours, err := b.tip(ctx)
	if err != nil {
		return "", err
	}
	heads, err := b.git.away(ctx, "ls-remote", "--heads", b.cfg.RemoteURL)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(heads) {
		if name, ok := strings.CutPrefix(line, ours+"\trefs/heads/"); ok {
			return strings.TrimSpace(name), nil
		}
	}
	name = "backup-" + strings.NewReplacer(":", "-", ".", "-").Replace(b.now().UTC().Format("2006-01-02T15:04:05.000Z"))
	return name, b.sendTo(ctx, name)
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
	if code(err) == 1 { // they have nothing in common
		var begun bool
		if begun, err = b.onlyBegun(ctx, theirs); err == nil && !begun {
			return errApart
		}
	}
	if err != nil {
		return err
	}
	if base == theirs {
		return nil // nothing is new there
	}
	merged, err := b.git.here(ctx, "merge-tree", "--write-tree", "--no-messages", "--allow-unrelated-histories", ours, theirs)
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

// onlyBegun reports whether a commit is what a host begins a repository with, such as a README and a license: files in no
// folder. What has folders may be the copy of another bot, which is never mixed with ours.
func (b *Backup) onlyBegun(ctx context.Context, commit string) (bool, error) {
	out, err := b.git.here(ctx, "ls-tree", "-d", commit)
	return out == "", err
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
