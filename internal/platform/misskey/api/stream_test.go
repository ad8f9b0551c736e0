package api

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/platform"
	"familiar/internal/platform/misskey/misskeytest"
)

// wait is a limit for what hangs, not a measure.
const wait = 15 * time.Second

func subscribed(t *testing.T, c *Client) *Stream {
	t.Helper()
	s, err := c.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// told returns what a stream tells next.
func told(t *testing.T, s *Stream) Event {
	t.Helper()
	select {
	case ev := <-s.Events():
		return ev
	case <-time.After(wait):
		t.Fatal("nothing is told")
		return Event{}
	}
}

// lost waits until a stream is lost, and returns why.
func lost(t *testing.T, s *Stream) error {
	t.Helper()
	select {
	case <-s.Done():
		return s.Err()
	case <-time.After(wait):
		t.Fatal("the stream is not lost")
		return nil
	}
}

// A stream tells what concerns the account and what becomes of a note that is watched, in its order, and nothing else.
func TestAStreamTells(t *testing.T) {
	c, in := client(t)
	s := subscribed(t, c)
	ann := in.User("ann", "Ann", false)
	one, two := in.Write(ann, misskeytest.Draft{Text: "@familiar one"}), in.Write(ann, misskeytest.Draft{Text: "@familiar two"})
	s.Watch(t.Context(), one.ID)
	s.Watch(t.Context(), two.ID)
	s.Unwatch(t.Context(), one.ID)
	s.Start(t.Context(), time.Hour, time.Hour)
	in.Settle(t.Context())
	for _, odd := range []string{"", "hello", "[]", `{"type":5}`, `{"type":"channel","body":{"id":"other","type":"mention"}}`,
		`{"type":"noteUpdated","body":{"type":"deleted"}}`, `{"type":"emojiAdded","body":{"id":"main"}}`} {
		in.Send(odd)
	}
	in.Delete(one.ID)
	in.Delete(two.ID)
	in.Send(`{"type":"channel","body":{"id":"main","type":"unheardOf","body":[5]}}`)
	for _, want := range []Event{{Type: "mention"}, {Type: "mention"}, {Type: "deleted", Note: two.ID}, {Type: "unheardOf"}} {
		got := told(t, s)
		if got.Type != want.Type || got.Note != want.Note || len(got.Body) == 0 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// A stream that breaks is lost, and so is one that is silent; one that answers is not.
func TestAStreamIsLost(t *testing.T) {
	c, in := client(t)
	s := subscribed(t, c)
	s.Start(t.Context(), time.Millisecond, wait)
	in.Send(`{"type":"channel","body":{"id":"main","type":"mention","body":{}}}`)
	told(t, s)
	in.Drop()
	if err := lost(t, s); err == nil || !strings.Contains(err.Error(), "the stream was lost") {
		t.Errorf("got %v", err)
	}
	s.Close()
	s = subscribed(t, c)
	in.Deafen()
	s.Start(t.Context(), 20*time.Millisecond, 50*time.Millisecond)
	if err := lost(t, s); err == nil || !strings.Contains(err.Error(), "the stream is dead: it did not answer within 50ms") {
		t.Errorf("got %v", err)
	}
}

// A stream of which nothing is taken can be closed, also twice.
func TestAStreamThatNobodyHears(t *testing.T) {
	c, in := client(t)
	s := subscribed(t, c)
	s.Start(t.Context(), time.Hour, time.Hour)
	for i := range 2 * waiting {
		in.Send(fmt.Sprintf(`{"type":"channel","body":{"id":"main","type":"event","body":%d}}`, i))
	}
	for deadline := time.Now().Add(wait); len(s.events) < waiting; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is read")
		}
	}
	s.Close()
	s.Close()
}

// A token that is not valid is Fatal; whatever else stands in the way may pass.
func TestASubscriptionIsRefused(t *testing.T) {
	c, in := client(t)
	in.Misbehave("streaming", misskeytest.Misbehaviour{Status: 403}, misskeytest.Misbehaviour{Status: 502}, misskeytest.Misbehaviour{Break: true})
	var fatal platform.Fatal
	for _, says := range []string{"streaming: HTTP 403", "streaming: HTTP 502", "EOF"} {
		c.CloseIdle() // over a connection that was used before it would be asked for again
		if _, err := c.Subscribe(t.Context()); err == nil || errors.As(err, &fatal) || !strings.Contains(err.Error(), says) {
			t.Errorf("want %s: %v", says, err)
		}
	}
	in.Revoke(true)
	if _, err := c.Subscribe(t.Context()); !errors.As(err, &fatal) || !Revoked(err) || !strings.Contains(err.Error(), "make a new one") {
		t.Errorf("got %v", err)
	}
}
