// Package kv is the small store for what the machine must remember and nobody would read: five methods over
// keys and short values that may expire. SQLite keeps it by default; a map serves tests.
package kv

import (
	"context"
	"errors"
	"time"
)

// Store keeps values by key. Keys are any text; List and Many see no expired entry. Every implementation is
// safe for concurrent use, and its calls block for the store's own I/O only.
type Store interface {
	// Load returns a value, or ErrMissing.
	Load(ctx context.Context, key string) (string, error)
	// Many returns the values of those keys that exist.
	Many(ctx context.Context, keys ...string) (map[string]string, error)
	// Save sets a value; ttl 0 means for ever.
	Save(ctx context.Context, key, value string, ttl time.Duration) error
	// Delete removes keys; a key that does not exist is no error.
	Delete(ctx context.Context, keys ...string) error
	// List returns the keys that begin with prefix, in order.
	List(ctx context.Context, prefix string) ([]string, error)
}

// ErrMissing says that a key has no value, or that its time was over.
var ErrMissing = errors.New("no such key")
