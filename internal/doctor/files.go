package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Private is what nobody else on the machine may see: folders 0700, files 0600.
type Private struct {
	Path     string
	Optional bool // it need not be there
	Loose    bool // others may see it, with a word of warning: a folder that somebody keeps in a repository
}

// Closed checks that private things are there, ours, and closed to others.
func Closed(things ...Private) Check {
	return Check{Name: "files", Look: func(context.Context) []Line {
		var lines []Line
		for _, thing := range things {
			if l, odd := thing.look(os.Geteuid()); odd {
				lines = append(lines, l)
			}
		}
		if len(lines) == 0 {
			lines = append(lines, Well("what is ours is closed to others"))
		}
		return lines
	}}
}

// look says what is odd about a private thing to the user me.
func (p Private) look(me int) (Line, bool) {
	info, err := os.Lstat(p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.Optional:
		return Line{}, false
	case errors.Is(err, fs.ErrNotExist):
		return Bad(p.Path+" is not there", "start the bot once, which makes it, or name another directory with --dir"), true
	case err != nil:
		return Bad(err.Error(), "run this as the user whom the bot runs as"), true
	case info.Mode()&fs.ModeSymlink != 0:
		return Bad(p.Path+" is a link", "put the thing itself there"), true
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != me {
		if p.Loose && st.Uid == 0 && usable(p.Path, info.IsDir()) {
			return Line{}, false // as in a container, where the volume and what is mounted are root's
		}
		return Bad(fmt.Sprintf("%s belongs to user %d, and we are user %d", p.Path, st.Uid, me),
			"run this as the user whom the bot runs as, or give the files to that user with chown -R"), true
	}
	mode, want := info.Mode().Perm(), fs.FileMode(0o600)
	if info.IsDir() {
		want = 0o700
	}
	if mode&0o077 == 0 {
		return Line{}, false
	}
	say, next := fmt.Sprintf("%s is open to others (mode %04o)", p.Path, mode), fmt.Sprintf("chmod %04o %q", want, p.Path)
	if p.Loose {
		return Doubtful(say, next), true
	}
	return Bad(say, next), true
}

// usable reports whether we can read a file, and change what is in a folder.
func usable(path string, folder bool) bool {
	const read, write, enter = 4, 2, 1
	if folder {
		return syscall.Access(path, read|write|enter) == nil
	}
	return syscall.Access(path, read) == nil
}

// How far ahead of our clock a file may be, and how many files are looked at.
const (
	ahead    = 2 * time.Minute
	mostSeen = 20_000
)

// oldest is before the first line of this program was written: a clock that shows less was never set.
var oldest = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// errEnough ends a walk.
var errEnough = errors.New("enough was seen")

// Clock checks that this machine's clock is not behind what was written before. A clock that was set back makes
// reminders late, and things appear in the wrong order.
func Clock(dir string, now func() time.Time) Check {
	return Check{Name: "clock", Look: func(ctx context.Context) []Line {
		at := now()
		if at.Before(oldest) {
			return []Line{Bad("it is "+at.UTC().Format(time.RFC3339)+", says this machine", "set its clock")}
		}
		newest, seen := "", 0
		var most time.Time
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if seen++; seen > mostSeen || ctx.Err() != nil {
				return errEnough
			}
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // what cannot be seen is told by the check of the files
			}
			if info, err := d.Info(); err == nil && info.ModTime().After(most) {
				newest, most = path, info.ModTime()
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return []Line{Doubtful("the times of the files cannot be read: "+err.Error(), "see the check of the files")}
		}
		if most.After(at.Add(ahead)) {
			return []Line{Doubtful(fmt.Sprintf("%s was written %s from now", newest, most.Sub(at).Round(time.Second)),
				"set this machine's clock, or wait: what is kept by time is in the wrong order until then")}
		}
		return []Line{Well("no file is newer than now")}
	}}
}
