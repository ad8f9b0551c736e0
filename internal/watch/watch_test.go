package watch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watched watches files until the test ends, and returns what waits for the next change.
func watched(t *testing.T, files ...string) (next func(what string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	told, over := make(chan struct{}, 100), make(chan error, 1)
	go func() { over <- Files(ctx, files, func() { told <- struct{}{} }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	next = func(what string) {
		t.Helper()
		select {
		case <-told:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s was not told", what)
		}
	}
	// The watch begins at some instant after it was asked for.
	for i := 0; ; i++ {
		write(t, files[0], string(rune('a'+i%26)))
		select {
		case <-told:
			return next
		case <-time.After(time.Second):
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWaysToChangeAFile(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "later", "b.yaml")
	next := watched(t, file, other)

	write(t, file, "in place")
	next("a file written in place")

	write(t, file+"~", "renamed over")
	must(t, os.Rename(file+"~", file))
	next("a file renamed over")
	write(t, file, "again")
	next("a change after a rename")

	must(t, os.Remove(file))
	next("a file deleted")
	write(t, file, "anew")
	next("a file made anew")

	must(t, os.Mkdir(filepath.Dir(other), 0o700))
	write(t, other, "x")
	next("a file in a folder that was not there")
	must(t, os.Rename(filepath.Dir(other), filepath.Join(dir, "away")))
	next("a folder moved away")
	must(t, os.Mkdir(filepath.Dir(other), 0o700))
	write(t, other, "y")
	next("a file in a folder that was made anew")
}

func TestWhatIsNoChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	empty := sum([]string{file})
	write(t, file, "")
	if sum([]string{file}) == empty {
		t.Error("an empty file is like none")
	}
	write(t, file, "x")
	before := sum([]string{file})
	write(t, file+".log", "somebody else's")
	write(t, file+"~", "x")
	must(t, os.Rename(file+"~", file), os.Chtimes(file, time.Now(), time.Now().Add(time.Hour)))
	if sum([]string{file}) != before {
		t.Error("a file that holds what it held has changed")
	}
	if sum([]string{file + "~", file}) == sum([]string{file, file + "~"}) {
		t.Error("it does not matter which of two files it is")
	}
}

// A touch is looked at, and not told. The wait is longer than the watch waits for quiet; on a slow machine this sees
// less, and never what is not there.
func TestATouchIsNotTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	write(t, file, "x")
	ctx, cancel := context.WithTimeout(t.Context(), 4*quiet)
	defer cancel()
	told := 0
	touch := time.AfterFunc(quiet, func() { _ = os.Chtimes(file, time.Now(), time.Now().Add(time.Hour)) })
	defer touch.Stop()
	if err := Files(ctx, []string{file}, func() { told++ }); err != nil || told > 0 {
		t.Errorf("a touch was told %d times, %v", told, err)
	}
}

// As Kubernetes lays a ConfigMap: the file is a link through a link to a folder, which is exchanged.
func TestLinksThatAreExchanged(t *testing.T) {
	dir := t.TempDir()
	lay := func(name, text string) string {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		write(t, filepath.Join(dir, name, "config.yaml"), text)
		return name
	}
	file := filepath.Join(dir, "config.yaml")
	must(t, os.Symlink(lay("..1", "one"), filepath.Join(dir, "..data")), os.Symlink(filepath.Join("..data", "config.yaml"), file))
	next := watched(t, file)
	for _, text := range []string{"two", "three"} {
		must(t, os.Symlink(lay(".."+text, text), filepath.Join(dir, "..tmp")), os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")))
		next("the exchange for " + text)
	}
	must(t, os.RemoveAll(filepath.Join(dir, "..1")))
	write(t, filepath.Join(dir, "..three", "config.yaml"), "in place, behind the links")
	next("a file behind links")
}

func TestPlaces(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	must(t, os.Mkdir(at("real"), 0o700), os.Mkdir(at("real", "in"), 0o700), os.Symlink("real", at("link")),
		os.Symlink("loop", at("loop")), os.Symlink(at("real", "in", "gone"), at("far")))
	for file, want := range map[string][]string{
		at("real", "x"):            {at("real")},
		at("real", "in", "x"):      {at("real", "in")},
		at("link", "in", "x"):      {dir, at("real", "in")},
		at("gone", "deeper", "x"):  {dir},
		at("far"):                  {dir, at("real", "in")},
		at("link", "gone", "more"): {dir, at("real")},
	} {
		found := make(map[string]bool)
		must(t, places(file, found))
		var got []string
		for place := range found {
			got = append(got, place)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
	must(t, places(at("loop"), map[string]bool{})) // ends
}
