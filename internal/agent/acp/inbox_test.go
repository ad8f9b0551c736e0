package acp

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"familiar/internal/agent"
)

// BUG-D09: whatever is put in comes out, in order; text grows together, and more than the limit makes the reader wait.
func TestInboxIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newInbox()
		const piece, count = 1 << 20, 40
		filled := false
		go func() {
			for range count {
				b.put(item{update: agent.ToolCall{Title: strings.Repeat("x", 8)}, size: piece})
			}
			filled = true
			b.close(false)
		}()
		synctest.Wait()
		if filled || b.bytes > inboxLimit {
			t.Fatalf("%d bytes wait, the limit is %d", b.bytes, inboxLimit)
		}
		n := 0
		for {
			if _, ok := b.take(); !ok {
				break
			}
			n++
		}
		if n != count || b.bytes != 0 {
			t.Errorf("%d of %d came out, %d bytes are left", n, count, b.bytes)
		}
	})
}

func TestInboxJoinsText(t *testing.T) {
	b := newInbox()
	for _, u := range []agent.Update{agent.Message{Text: "a"}, agent.Message{Text: "b"}, agent.Thought{Text: "c"},
		agent.Message{Text: "d"}, agent.Plan{Steps: []string{"x"}}, agent.Message{Text: "e"}, agent.Message{Text: "f"}} {
		b.put(item{update: u, size: 1})
	}
	b.close(false)
	var got []string
	for {
		it, ok := b.take()
		if !ok {
			break
		}
		switch u := it.update.(type) {
		case agent.Message:
			got = append(got, "M"+u.Text)
		case agent.Thought:
			got = append(got, "T"+u.Text)
		default:
			got = append(got, "P")
		}
	}
	if want := "Mab Tc Md P Mef"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if b.put(item{update: agent.Message{Text: "late"}}) {
		t.Error("something was put into a closed inbox")
	}
}

// asked reports whether a request waits.
func (b *inbox) asked() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.items, func(it item) bool { return it.request != nil })
}
