// Package watch tells when files have changed, however that was done: written in place, renamed over, deleted and
// made anew, or reached through a link that leads elsewhere now. What counts is what a reader would read, so a file
// that was touched and holds what it held has not changed. Changes in quick succession are told once. Nothing is
// stored; a change that is undone before it was looked at is not told.
package watch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// How long it must be quiet before the files are looked at, and how long they are looked at latest all the same: a
// folder in which something else writes all the time is never quiet.
const (
	quiet  = 200 * time.Millisecond
	latest = 2 * time.Second
)

// Files calls changed, on its own goroutine, each time that one of the files has changed, until ctx ends. The files
// need not be there. An error means that this system cannot watch them, or does so no longer.
func Files(ctx context.Context, files []string, changed func()) error {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	defer notify.Close()
	w := watcher{files: files, notify: notify}
	if err := w.follow(); err != nil {
		return err
	}
	w.seen = sum(files)
	return w.run(ctx, changed)
}

type watcher struct {
	files  []string
	notify *fsnotify.Watcher
	seen   [sha256.Size]byte
}

func (w *watcher) run(ctx context.Context, changed func()) error {
	var look <-chan time.Time // set while something may have changed
	var first time.Time
	stir := func() {
		if look == nil {
			first = time.Now()
		}
		look = time.After(min(quiet, max(0, latest-time.Since(first))))
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-w.notify.Events:
			if !ok {
				return errors.New("watch files: the watch has ended")
			}
			stir()
		case _, ok := <-w.notify.Errors: // more happened than could be told: whatever it was, look
			if !ok {
				return errors.New("watch files: the watch has ended")
			}
			stir()
		case <-look:
			look = nil
			if err := w.follow(); err != nil {
				return err
			}
			if now := sum(w.files); now != w.seen {
				w.seen = now
				changed()
			}
		}
	}
}

// follow watches every folder whose entries decide what the files are. Links may lead through others than before.
func (w *watcher) follow() error {
	wanted := make(map[string]bool)
	for _, file := range w.files {
		if err := places(file, wanted); err != nil {
			return err
		}
	}
	for _, old := range w.notify.WatchList() {
		if !wanted[old] {
			_ = w.notify.Remove(old) // it is gone, or of no interest any more
		}
	}
	for dir := range wanted {
		// A folder may vanish between the two; its parent tells.
		if err := w.notify.Add(dir); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
			return fmt.Errorf("watch %s: %w", dir, err)
		}
	}
	return nil
}

// mostLinks bounds how far links are followed.
const mostLinks = 40

// places collects the folders whose entries decide what a reader of file finds: its own, those of the links on the
// way, and where something is missing, the folder that it would be made in.
func places(file string, into map[string]bool) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("watch %s: %w", file, err)
	}
	at, rest := "/", strings.Split(strings.Trim(filepath.Clean(file), "/"), "/")
	for links := 0; len(rest) > 0 && links <= mostLinks; {
		next := filepath.Join(at, rest[0])
		info, err := os.Lstat(next)
		switch {
		case err != nil:
			into[at] = true
			return nil
		case info.Mode()&os.ModeSymlink != 0:
			into[at] = true
			links++
			target, err := os.Readlink(next)
			if err != nil {
				return nil
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(at, target)
			}
			rest = append(strings.Split(strings.Trim(filepath.Clean(target), "/"), "/"), rest[1:]...)
			at = "/"
		default:
			at, rest = next, rest[1:]
		}
	}
	into[filepath.Dir(at)] = true
	return nil
}

// most bounds what is read of a file, in bytes.
const most = 1 << 20

// sum is what a reader of the files would find.
func sum(files []string) (of [sha256.Size]byte) {
	all := sha256.New()
	for _, file := range files {
		fmt.Fprintf(all, "\x00%q\x00", file)
		// Anything but a file could block, or never end.
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			fmt.Fprint(all, "closed to us")
			continue
		}
		fmt.Fprint(all, "there ")
		_, _ = io.Copy(all, io.LimitReader(f, most)) // what cannot be read to its end differs from what can
		_ = f.Close()
	}
	all.Sum(of[:0])
	return of
}
