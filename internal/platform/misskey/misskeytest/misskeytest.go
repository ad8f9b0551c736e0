// Package misskeytest is a strict fake of one Misskey instance: the API and the stream, in memory, for tests and for a
// person who plays with a bot offline. Every request is held against the shapes that the Misskey project publishes, and
// what the project's server checks besides is checked here too; so is every answer and event of the fake itself. What
// breaks a rule is refused and kept in Faults.
//
// A test lets it misbehave: calls that fail, hang or lie (Misbehave), streams that break, go deaf or say anything
// (Drop, Deafen, Send), messages that nobody is told of (Mute).
package misskeytest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"
)

// Token is the access token of the bot's account.
const Token = "aFakeTokenOfTheFakeBot"

// Instance is the fake. Safe for concurrent use.
type Instance struct {
	host   string // as mentions name it
	server *httptest.Server
	done   chan struct{}
	works  sync.WaitGroup // streams and announcements

	mu       sync.Mutex
	serial   int
	clock    time.Time
	me       *User
	users    map[string]*User
	notes    []*Note // in the order in which they were written
	byID     map[string]*Note
	replies  map[string]int // how many notes answer one
	chats    []*ChatMessage
	files    map[string]*DriveFile
	emojis   []Emoji
	streams  map[*stream]bool
	plans    map[string][]Misbehaviour
	calls    map[string]int
	faults   []string
	acts     []Act
	unread   map[string]bool // who wrote to the bot what it did not read
	mute     bool
	announce time.Duration
	longest  int // the longest note, in code points
	revoked  bool
	changed  chan struct{}
}

// Start makes an instance that listens on loopback, with one account on it, the bot's.
func Start() *Instance {
	in, err := Open(context.Background(), "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return in
}

// Open makes an instance that listens at an address.
func Open(ctx context.Context, address string) (*Instance, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	in := &Instance{done: make(chan struct{}), users: map[string]*User{}, files: map[string]*DriveFile{},
		byID: map[string]*Note{}, replies: map[string]int{}, streams: map[*stream]bool{}, plans: map[string][]Misbehaviour{}, calls: map[string]int{},
		unread: map[string]bool{}, changed: make(chan struct{}), longest: MaxNote, host: listener.Addr().String()}
	in.me = in.user("familiar", "Familiar", true)
	in.emojis = []Emoji{
		{Aliases: []string{}, Name: "blobcat", Category: new("Cats"), URL: "https://fake.example/blobcat.png"},
		{Aliases: []string{}, Name: "ok_hand2", URL: "https://fake.example/ok.png"},
		{Aliases: []string{}, Name: "vip", URL: "https://fake.example/vip.png", Roles: []string{"role1"}},
	}
	in.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: in.handler(), ReadHeaderTimeout: 10 * time.Second}}
	in.server.Start()
	return in, nil
}

// Close ends every stream and the listener, and waits for both.
func (in *Instance) Close() {
	close(in.done)
	in.Drop()
	in.works.Wait()
	in.server.CloseClientConnections()
	in.server.Close()
}

// Host is the name and port that the instance answers at, over HTTP without TLS.
func (in *Instance) Host() string { return in.host }

// Faults returns what was asked against the rules, and what the fake itself answered against them.
func (in *Instance) Faults() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.faults)
}

// Calls returns how often an endpoint was called.
func (in *Instance) Calls(path string) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.calls[path]
}

// fault keeps what breaks a rule.
func (in *Instance) fault(format string, of ...any) {
	in.faults = append(in.faults, fmt.Sprintf(format, of...))
}

// id makes the next id: later ones are greater, as on a real instance.
func (in *Instance) id() string {
	in.serial++
	return fmt.Sprintf("a%011d", in.serial)
}

// now is the time of the instance, which moves with every use.
func (in *Instance) now() string {
	at := time.Now().UTC().Truncate(time.Millisecond)
	if !at.After(in.clock) {
		at = in.clock.Add(time.Millisecond)
	}
	in.clock = at
	return at.Format("2006-01-02T15:04:05.000Z")
}

// Misbehaviour is how one call goes wrong.
type Misbehaviour struct {
	Status int           // of the answer; 0 leaves the answer as it is
	Body   string        // of the answer
	Header http.Header   // of the answer
	Wait   time.Duration // before the answer
	Done   bool          // what was asked for is done, and then the answer goes wrong
	Hang   bool          // no answer comes
	Break  bool          // the connection breaks instead of an answer
}

// Refusal is an answer of the instance's own, with one of its codes.
func Refusal(status int, code string) Misbehaviour {
	return Misbehaviour{Status: status, Body: `{"error":{"code":"` + code + `","message":"The fake says so.","id":"00000000-0000-0000-0000-000000000000"}}`}
}

// Misbehave lets the next calls of an endpoint go wrong, one after the other.
func (in *Instance) Misbehave(path string, plans ...Misbehaviour) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.plans[path] = append(in.plans[path], plans...)
}

// Revoke makes the bot's token invalid, or valid again.
func (in *Instance) Revoke(yes bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.revoked = yes
}

// Announce sets how long a chat message may be unread before the bot is told of it, as a real instance waits 3 s.
func (in *Instance) Announce(after time.Duration) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.announce = after
}

// Shorten sets how long a note may be.
func (in *Instance) Shorten(longest int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.longest = longest
}

// Mute lets what is written reach nobody's stream, or reach it again.
func (in *Instance) Mute(yes bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.mute = yes
}

// Changed returns a channel that is closed when something was written or deleted next.
func (in *Instance) Changed() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.changed
}

func (in *Instance) change() {
	close(in.changed)
	in.changed = make(chan struct{})
}

// Notes returns copies of all notes, in the order in which they were written.
func (in *Instance) Notes() (all []Note) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, n := range in.notes {
		all = append(all, *n)
	}
	return all
}

// Chats returns copies of all chat messages, in the order in which they were written.
func (in *Instance) Chats() (all []ChatMessage) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, c := range in.chats {
		all = append(all, *c)
	}
	return all
}

// Files returns the ids of the files in the drive.
func (in *Instance) Files() (all []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for id := range in.files {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// Me is the bot's account.
func (in *Instance) Me() User { return *in.me }

// User makes an account.
func (in *Instance) User(username, name string, bot bool) User {
	in.mu.Lock()
	defer in.mu.Unlock()
	return *in.user(username, name, bot)
}

func (in *Instance) user(username, name string, bot bool) *User {
	u := &User{ID: in.id(), Username: username, IsBot: bot, AvatarURL: "https://fake.example/avatar.png",
		AvatarDecorations: []struct{}{}, Emojis: struct{}{}, OnlineStatus: "online"}
	if name != "" {
		u.Name = &name
	}
	in.users[u.ID] = u
	return u
}

func (in *Instance) note(id *string) *Note {
	if id == nil {
		return nil
	}
	return in.byID[*id]
}

// sees reports whether an account may see a note.
func (in *Instance) sees(u *User, n *Note) bool {
	return n.Visibility != "specified" || n.UserID == u.ID || slices.Contains(n.Visible, u.ID)
}

// mustJSON encodes what the fake itself made.
func mustJSON[T any](v T) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
