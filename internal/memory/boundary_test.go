package memory

import (
	"errors"
	"log/slog"
	"testing"

	"golang.org/x/sys/unix"
)

// AF-143, AF-144
func TestAPublicMemoryMadePrivate(t *testing.T) {
	r := newRig(t)
	m := r.save(false, "moved to Kyoto", High)
	r.change(true, m.ID, Changes{Visibility: ptr(Private)})
	r.want("in a group", r.important(false))
	r.want("found in a group", r.find(false, "kyoto"))
	r.want("in private", r.important(true), "moved to Kyoto")
	r.change(true, m.ID, Changes{Enabled: ptr(false)})
	r.want("disabled in private", r.important(true))
	r.change(true, m.ID, Changes{Visibility: ptr(Public)})
	r.want("disabled in a group", r.important(false))
	if got := len(r.lines(publicFile)); got != 4 {
		t.Errorf("%d lines in the file that holds the memory, want 4", got)
	}
}

// The older writer put a patch into the file of the visibility of the moment.
func TestPatchesInTheOtherFileCountInPrivate(t *testing.T) {
	r := newRig(t)
	r.write(publicFile, memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "public", "high", "one"),
		`{"type":"patch","targetId":"mem_a","ts":"2025-01-02T00:00:00.000Z","visibility":"private"}`)
	r.write(privateFile, `{"type":"patch","targetId":"mem_a","ts":"2025-01-03T00:00:00.000Z","enabled":false}`)
	r.want("in private", r.important(true))
	r.want("in a group", r.important(false))
}

func TestWordsThatAreNotKnownShowLess(t *testing.T) {
	r := newRig(t)
	r.write(publicFile, memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "friends", "high", "one"),
		memoryLine("mem_b", "2025-01-01T00:00:00.000Z", "public", "urgent", "two"),
		`{"type":"memory","id":"mem_c","ts":"2025-01-02T00:00:00Z","importance":"high","content":"three"}`)
	r.want("in a group", r.important(false), "three")
	r.want("in private", r.important(true), "one", "three")
}

// AF-148: the kernel is asked who opened the private file.
func TestInAGroupThePrivateFileIsNotOpened(t *testing.T) {
	r := newRig(t)
	m := r.save(true, "afraid of spiders", High)
	r.Store = Open(Defaults(), r.folder, nil, slog.New(slog.DiscardHandler)) // nothing of it is in memory
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, r.file(privateFile), unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	opened := func() bool {
		var buf [4096]byte
		n, err := unix.Read(watch, buf[:])
		return err == nil && n > 0
	}
	r.want("found", r.find(false, "spiders"))
	r.want("told", r.important(false))
	r.save(false, "likes rain", "")
	if _, err := r.Patch(t.Context(), ann, false, m.ID, Changes{Enabled: ptr(false)}); !errors.Is(err, ErrNotFound) {
		t.Errorf("patch: %v", err)
	}
	if opened() {
		t.Error("the private file was opened")
	}
	r.want("found in private", r.find(true, "spiders"), "afraid of spiders")
	if !opened() {
		t.Error("the watch sees nothing: this test proves nothing")
	}
}
