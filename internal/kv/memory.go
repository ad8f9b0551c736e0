package kv

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory is a Store that lasts as long as the program.
type Memory struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[string]entry
}

type entry struct {
	value string
	until time.Time // zero: for ever
}

// NewMemory returns an empty store; now is the clock, time.Now in a program.
func NewMemory(now func() time.Time) *Memory { return &Memory{now: now, entries: map[string]entry{}} }

// Load implements Store.
func (m *Memory) Load(_ context.Context, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.live(key); ok {
		return e.value, nil
	}
	return "", ErrMissing
}

// Many implements Store.
func (m *Memory) Many(_ context.Context, keys ...string) (map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	values := map[string]string{}
	for _, key := range keys {
		if e, ok := m.live(key); ok {
			values[key] = e.value
		}
	}
	return values, nil
}

// Save implements Store.
func (m *Memory) Save(_ context.Context, key, value string, ttl time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := entry{value: value}
	if ttl > 0 {
		e.until = m.now().Add(ttl)
	}
	m.entries[key] = e
	return nil
}

// Delete implements Store.
func (m *Memory) Delete(_ context.Context, keys ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		delete(m.entries, key)
	}
	return nil
}

// List implements Store.
func (m *Memory) List(_ context.Context, prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for key := range m.entries {
		if _, ok := m.live(key); ok && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// live returns an entry whose time is not over, and drops one whose time is. Call it with mu held.
func (m *Memory) live(key string) (entry, bool) {
	e, ok := m.entries[key]
	if ok && !e.until.IsZero() && !m.now().Before(e.until) {
		delete(m.entries, key)
		return entry{}, false
	}
	return e, ok
}
