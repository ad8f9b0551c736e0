// Package misskey is an account on one Misskey instance, as a platform: notes that mention us and chat messages become
// events, and actions become calls of the instance's API. It speaks the API itself, over HTTP and one WebSocket.
//
// Places are named by what stands before the colon: note:ID is the thread around a note that others can read, dm:USER
// the notes that only one person and we can see, chat:USER the chat with one person, timeline:self our own timeline. A
// note of the visibility «specified» is always direct, and so is the answer: it is shown to its author and nobody else.
//
// Misskey knows no idempotency keys, so nothing is Idempotent here: after a time-out nobody knows, and whoever asks can
// find our words in Before. It cannot change a note either; an edit deletes it and writes another, with another id.
package misskey

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/egress"
	"familiar/internal/kv"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/api"
)

// Name is the platform's word in places, files and metrics.
const Name = "misskey"

// The longest texts, in the unit that the instance counts them in: Unicode code points. An instance may take shorter
// notes, and says so.
const (
	MaxNote = 3000
	MaxChat = 2000
)

// maxFiles is how many files a note takes.
const maxFiles = 16

// How often the stream is asked whether it lives, and how long it may take to answer.
const (
	beat     = 60 * time.Second
	beatTime = 20 * time.Second
)

// Deps is what the platform needs of its host.
type Deps struct {
	Log   *slog.Logger
	Store kv.Store // remembers until when everything was heard, so that nothing is missed while we are away
}

// Misskey is the platform. Safe for concurrent use.
type Misskey struct {
	cfg      Config
	log      *slog.Logger
	api      *api.Client
	files    *egress.Client
	emojis   emojiCache
	people   people
	since    since
	handed   handed
	watched  watched
	late     chan chatMessage // found in a chat before it was announced
	beat     time.Duration    // how often the stream is asked whether it lives
	patience time.Duration    // how long it may take to answer

	mu      sync.Mutex
	me      account
	longest int                     // the longest note that the instance takes
	fail    context.CancelCauseFunc // ends the present run; nil when none runs
	half    map[chat.MessageID]half // edits of which the new message is not there yet
}

var (
	_ platform.Platform  = (*Misskey)(nil)
	_ platform.Historian = (*Misskey)(nil)
	_ platform.Fetcher   = (*Misskey)(nil)
	_ platform.Guide     = (*Misskey)(nil)
)

// New makes the platform; it connects when it is run.
func New(cfg Config, deps Deps) *Misskey {
	return &Misskey{cfg: cfg, log: deps.Log, api: api.New(cfg.origin(), cfg.Token), files: newFiles(cfg), late: make(chan chatMessage, 100),
		since: since{store: deps.Store}, beat: beat, patience: beatTime, longest: MaxNote, half: map[chat.MessageID]half{}}
}

// Name returns "misskey".
func (m *Misskey) Name() string { return Name }

// Abilities says what a note and a chat message can take.
func (m *Misskey) Abilities() chat.Abilities {
	m.mu.Lock()
	longest := m.longest
	m.mu.Unlock()
	able := chat.Abilities{MaxText: longest, Unit: chat.Runes, MaxFiles: maxFiles, Edit: true, Delete: true, React: true,
		Files: true, Search: true, Chains: true, Threaded: true}
	able.Places = func(p chat.Place) chat.Abilities {
		here := able
		if kind, _ := parsePlace(p.ID); kind == chatPlace {
			here.MaxText, here.MaxFiles, here.Chains, here.Threaded = MaxChat, 1, false, false
		}
		return here
	}
	return able
}

// Self returns our account; it has no id before it was first connected.
func (m *Misskey) Self() chat.Person {
	me := m.self()
	if me.ID == "" {
		return chat.Person{Platform: Name, Us: true, Bot: true}
	}
	return me.person()
}

func (m *Misskey) self() account {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.me
}

// account is our own account.
type account struct {
	ID, Username, Name string
	Host               string // the instance, as mentions of us name it
}

func (a account) person() chat.Person {
	return user{ID: a.ID, Username: a.Username, Name: api.Lenient[string]{V: a.Name}, IsBot: api.Lenient[bool]{V: true}}.person(a)
}
