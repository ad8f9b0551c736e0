// Package discordtest is a Discord of our own, for tests and for trying things out offline: the REST API and the gateway on
// one loopback address. It is strict: every request is held against what Discord publishes of it, and a client that
// breaks a rule of the gateway is closed with Discord's code; Problems tells what it saw. Faults can be asked for: see
// faults.go.
package discordtest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Server is a Discord with one bot in it. Safe for concurrent use.
type Server struct {
	listener net.Listener
	http     *http.Server
	schemas  schemas
	served   sync.WaitGroup
	ctx      context.Context // of every socket
	stop     context.CancelFunc

	mu       sync.Mutex
	changed  chan struct{} // closed and made anew with each change
	last     int64         // of the ids of messages
	things   int64         // how many servers, channels and people were made
	bot      User
	token    string
	people   map[string]User
	guilds   map[string]*Guild
	channels map[string]*Channel
	stickers map[string]Sticker
	emojis   []Emoji // of the application
	nonces   map[string]*Message
	files    map[string]stored
	sessions map[string]*session
	sockets  map[*socket]bool
	tally    Tally
	acts     []Act
	problems []string
	faults   faults
	buckets  map[string]*bucket
}

// Tally counts what the client did.
type Tally struct {
	Identified, Resumed, Heartbeats int
	Typed                           []time.Time // when typing was shown
	Commands                        []string    // the paths of command lists that were emptied
	Requests                        []string    // method and path, in order
}

// Open starts a Discord on a free port of 127.0.0.1, or on the one that address names. Close ends it.
func Open(ctx context.Context, address string) (*Server, error) {
	schemas, err := load()
	if err != nil {
		return nil, err
	}
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("open a Discord: %w", err)
	}
	s := &Server{listener: listener, schemas: schemas, changed: make(chan struct{}),
		people: map[string]User{}, guilds: map[string]*Guild{}, channels: map[string]*Channel{}, stickers: map[string]Sticker{},
		nonces: map[string]*Message{}, files: map[string]stored{}, sessions: map[string]*session{}, sockets: map[*socket]bool{},
		buckets: map[string]*bucket{}}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.faults.heartbeat = 41_250 * time.Millisecond
	us := "Familiar"
	s.bot = User{ID: botID, Username: "familiar", GlobalName: &us, Discriminator: "0", Bot: true}
	s.people[s.bot.ID] = s.bot
	s.token = base64.RawStdEncoding.EncodeToString([]byte(s.bot.ID)) + ".offline.not-a-secret"
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	s.served.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.problem("the server ended: %v", err)
		}
	})
	return s, nil
}

// botID is the bot's, the same at each start, so that its token is too.
const botID = "400000000000000042"

// firstThing is before the first id of newThing.
const firstThing = 410_000_000_000_000_000

// Close ends every connection and waits for them.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Close() // nothing is owed to anybody
	s.served.Wait()
}

// URL is the base address of the API, as platforms.discord.apiUrl takes it.
func (s *Server) URL() string { return s.base() + "/api" }

func (s *Server) base() string { return "http://" + s.listener.Addr().String() }

// Token is the bot's.
func (s *Server) Token() string { return s.token }

// Bot is the bot's own account.
func (s *Server) Bot() User { return s.bot }

// Problems are the rules that were broken, in order.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// Tally is what the client did so far.
func (s *Server) Tally() Tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tally
	t.Typed, t.Commands, t.Requests = slices.Clone(t.Typed), slices.Clone(t.Commands), slices.Clone(t.Requests)
	return t
}

// problem notes a broken rule.
func (s *Server) problem(format string, args ...any) { //nolint:goprintffuncname // it notes
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(format, args...)
}

// note is problem for whoever holds the lock.
func (s *Server) note(format string, args ...any) { //nolint:goprintffuncname // it notes
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
	s.tell()
}

// tell wakes whoever waits for a change. The lock is held.
func (s *Server) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Until waits until something holds, and reports whether it did before ctx ended. holds may call the methods of s.
func (s *Server) Until(ctx context.Context, holds func() bool) bool {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if holds() {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// epoch is the beginning of Discord's time, in milliseconds since 1970.
const epoch = 1_420_070_400_000

// newID makes an id, later than every one before. The lock is held, or nobody else is there yet.
func (s *Server) newID() string {
	s.last = max(s.last+1, (time.Now().UnixMilli()-epoch)<<22)
	return strconv.FormatInt(s.last, 10)
}

// newThing makes the id of a server, a channel, a person and the like: the same ones at each start, so that a bot knows
// them again. The lock is held.
func (s *Server) newThing() string {
	s.things++
	return strconv.FormatInt(firstThing+s.things, 10)
}

// timeOf reads the time out of an id.
func timeOf(id string) time.Time {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n>>22 + epoch).UTC()
}
