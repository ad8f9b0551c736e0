// Package backup keeps copies of a bot's data in a Git repository elsewhere. A copy is made of what the files hold, by
// the git program but past its work tree: nothing that lies among the files (hooks, filters, repositories of agents) has
// a say in it. The login for the remote repository goes from our memory to git's environment, and stands in no file, no
// address and no log.
//
// What others changed in the remote repository is taken over, unless the same file was changed here too.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"familiar/internal/secret"
)

// Backup copies one folder. Safe for concurrent use; its calls run git, and may wait for the network for minutes.
type Backup struct {
	cfg    Config
	dir    string
	git    *git
	before func(ctx context.Context) error
	now    func() time.Time
	log    *slog.Logger

	mu    sync.Mutex      // held by the one that works
	ref   string          // our branch; furnish finds it out
	known map[string]blob // what the last copy held, by name
	lacks lack            // what it did not
}

// Deps is what a backup works with. Dir is the folder, an absolute path. Before, if not nil, runs ahead of each copy
// and brings files up to date that hold what lies elsewhere.
type Deps struct {
	Dir    string
	Token  secret.Value // takes the place of a password that is not set
	Before func(ctx context.Context) error
	Now    func() time.Time
	Log    *slog.Logger
}

// New makes a backup of a configuration that was checked. It runs nothing.
func New(cfg Config, d Deps) *Backup {
	user, password := cfg.Login(d.Token)
	seen := func(text string) string { return masked(text, password) }
	return &Backup{cfg: cfg, dir: d.Dir, before: d.Before, now: d.Now, log: d.Log,
		git: newGit(filepath.Join(d.Dir, ".git"), cfg.RemoteURL, user, password.Reveal(), seen)}
}

// branch is how our branch is called in a repository that we make, and in a remote one that is empty.
const branch = "main"

// loginInURL finds a login in an address.
var loginInURL = regexp.MustCompile(`//[^/@\s]+@`)

// masked takes logins out of what git says.
func masked(text string, password secret.Value) string {
	if word := password.Reveal(); word != "" {
		text = strings.ReplaceAll(text, word, "[REDACTED]")
	}
	return loginInURL.ReplaceAllString(text, "//[REDACTED]@")
}

// ErrBusy says that a copy is being made already.
var ErrBusy = errors.New("a backup is running")

// Restore brings the newest copy into a folder that is missing or holds no file, so that a bot on a new machine has
// what it had on the old one; a folder with files is left as it is, unless a Restore that was cut off left them: then the
// files that are missing are brought. It reports whether it brought any. It must run before anything is written there.
func (b *Backup) Restore(ctx context.Context) (bool, error) {
	if there, err := holdsFiles(b.dir); err != nil || there && !b.cutOff() {
		return false, err
	}
	b.log.Info("nothing is here yet; looking for a backup")
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return false, fmt.Errorf("restore: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.furnish(ctx); err != nil {
		return false, fmt.Errorf("restore: %w", err)
	}
	theirs, err := b.fetch(ctx)
	if err != nil || theirs == "" {
		return false, err
	}
	if err := b.adopt(ctx, theirs); err != nil {
		return false, fmt.Errorf("restore: %w", err)
	}
	return true, nil
}

// unfinished is the file in the repository that is there while a Restore brings files: without it a folder that holds some
// of them looks like one that holds all.
const unfinished = "familiar-restore"

// cutOff reports whether a Restore began to bring files and did not end.
func (b *Backup) cutOff() bool {
	_, err := os.Stat(filepath.Join(b.git.dir, unfinished))
	return err == nil
}

// holdsFiles reports whether a folder has anything in it but a repository.
func holdsFiles(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			return true, nil
		}
	}
	return false, err
}

// Begin makes the first copy of a process, and pushes it. Where the remote repository went another way and the two
// cannot be brought together, or where it does not take our branch, the copy goes to a branch of its own, backup-TIME, so
// that it is safe.
func (b *Backup) Begin(ctx context.Context) error {
	if err := b.lock(); err != nil {
		return err
	}
	defer b.mu.Unlock()
	err := b.copy(ctx)
	if !errors.Is(err, errApart) && !errors.Is(err, errRefused) {
		return err
	}
	aside, asideErr := b.setAside(ctx)
	if asideErr != nil {
		return errors.Join(err, asideErr)
	}
	b.log.Warn("the copy is in a branch of its own", "branch", aside, "err", err)
	return b.lacks.err()
}

// Copy makes a copy where anything has changed, and pushes what is not there yet. While another one is being made it is
// ErrBusy. Where the copy is made but lacks something, that is the error.
func (b *Backup) Copy(ctx context.Context) error {
	if err := b.lock(); err != nil {
		return err
	}
	defer b.mu.Unlock()
	err := b.copy(ctx)
	b.pack(ctx)
	return err
}

// lock waits for nobody.
func (b *Backup) lock() error {
	if !b.mu.TryLock() {
		b.log.Warn("a backup is left out: the last one is still running")
		return ErrBusy
	}
	return nil
}

func (b *Backup) copy(ctx context.Context) error {
	if b.before != nil {
		if err := b.before(ctx); err != nil {
			b.log.Warn("the backup lacks some of the state", "err", err)
		}
	}
	if err := b.furnish(ctx); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if _, err := b.commit(ctx); err != nil {
		b.known = nil                                                 // the repository may not have it
		return fmt.Errorf("back up: %w", errors.Join(err, b.sweep())) // on a full disk the bot needs the room at once
	}
	if err := b.push(ctx); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	return b.lacks.err()
}

// furnish makes the repository where it is missing, and takes away what a crash left in it.
func (b *Backup) furnish(ctx context.Context) error {
	if !b.furnished() {
		b.known = nil // it is not in the one that we make
		if _, err := b.git.here(ctx, "init", "--quiet", "--initial-branch="+branch, "--template="); err != nil {
			return err
		}
	}
	if err := os.Chmod(b.git.dir, 0o700); err != nil {
		return err
	}
	ref, err := b.git.here(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return fmt.Errorf("the repository in %s is on no branch: %w", b.dir, err)
	}
	b.ref = ref
	for _, lock := range []string{"index.lock", "HEAD.lock", "config.lock", freshIndex + ".lock", ref + ".lock", "packed-refs.lock", "packed-refs.new"} {
		if err := os.Remove(filepath.Join(b.git.dir, filepath.FromSlash(lock))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := b.sweep(); err != nil {
		return err
	}
	info := filepath.Join(b.git.dir, "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.git.dir, ownConfig), []byte(settingsFor(b.cfg.RemoteURL)), 0o600); err != nil {
		return err
	}
	// For people who look with git themselves: it shows them what we keep.
	return os.WriteFile(filepath.Join(info, "exclude"), []byte(strings.Join(left, "\n")+"\n"), 0o600)
}

// sweep takes away what a git that could not end left, which may be as large as all files together.
func (b *Backup) sweep() error {
	for _, pattern := range []string{"objects/pack/tmp_*", "fast_import_crash_*"} {
		found, _ := fs.Glob(os.DirFS(b.git.dir), pattern)
		for _, name := range found {
			if err := os.Remove(filepath.Join(b.git.dir, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// furnished reports whether there is a repository, and not the beginning of one that a crash left.
func (b *Backup) furnished() bool {
	for _, part := range []string{"HEAD", "config", "refs", "objects/pack"} {
		if _, err := os.Stat(filepath.Join(b.git.dir, filepath.FromSlash(part))); err != nil {
			return false
		}
	}
	return true
}

// commit makes a commit of what the files hold, unless the last one holds the same, and returns the newest.
func (b *Backup) commit(ctx context.Context) (string, error) {
	tree, err := b.tree(ctx)
	if err != nil {
		return "", err
	}
	last, err := b.tip(ctx)
	if err != nil {
		return "", err
	}
	word := "initial: "
	args := []string{"commit-tree", tree}
	if last != "" {
		held, err := b.git.here(ctx, "rev-parse", last+"^{tree}")
		if err != nil || held == tree {
			return last, err
		}
		word = "backup: "
		args = append(args, "-p", last)
	}
	args = append(args, "-m", word+b.now().UTC().Format("2006-01-02T15:04:05.000Z"))
	return b.record(ctx, args)
}

// record makes a commit and lets our branch end in it.
func (b *Backup) record(ctx context.Context, args []string) (string, error) {
	fresh, err := b.git.run(ctx, call{args: args, env: []string{
		"GIT_AUTHOR_NAME=" + b.cfg.AuthorName, "GIT_AUTHOR_EMAIL=" + b.cfg.AuthorEmail,
		"GIT_COMMITTER_NAME=" + b.cfg.AuthorName, "GIT_COMMITTER_EMAIL=" + b.cfg.AuthorEmail}})
	if err != nil {
		return "", err
	}
	_, err = b.git.here(ctx, "update-ref", b.ref, fresh)
	return fresh, err
}

// tip is the newest commit of our branch; "" when there is none.
func (b *Backup) tip(ctx context.Context) (string, error) {
	out, err := b.git.here(ctx, "rev-parse", "--verify", "--quiet", b.ref)
	if code(err) == 1 {
		return "", nil
	}
	return out, err
}
