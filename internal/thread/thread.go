// Package thread keeps the named conversations that a person has in one place, for desks that go on with them: which
// there are, which is the current one, and the session of the agent that each goes on with. People call them sessions.
//
// It promises: a message belongs to the conversation that was current when it was accepted, in the same transaction,
// so that switching while a turn runs or messages wait mixes nothing; of each person in each place the 50 used last are
// kept; the conversations of two people in one place never meet.
package thread

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/chat"
	"familiar/internal/sqlite"
)

// The bounds.
const (
	MostKept     = 50                  // conversations of one person in one place; the one unused the longest goes
	LongestName  = 40                  // code points
	longestTitle = 60                  // code points
	messagesKept = 400                 // of one place: which conversation they belong to
	messagesFor  = 30 * 24 * time.Hour // as long as history keeps what was said
)

// What can be wrong with a name.
var (
	ErrUnknown = errors.New("no such conversation")
	ErrTaken   = errors.New("there is a conversation of that name")
	ErrName    = errors.New("a name is one line of at most 40 characters")
)

// ID names a conversation for as long as it is kept, whatever it is called.
type ID int64

// Thread is one conversation of a person in a place. Title is the beginning of the first thing that was said in it.
// Agent is the session that its agent goes on with; "" begins a new one.
type Thread struct {
	ID      ID
	Name    string
	Title   string
	Agent   string
	Made    time.Time
	Used    time.Time
	Current bool
}

// Whose says whose conversations are meant: a person in a place.
type Whose struct {
	Place  chat.Place
	Person chat.Person
}

// Of returns whose conversations a turn is about.
func Of(t chat.Turn) Whose { return Whose{t.Place, t.From} }

// Threads are all of a bot. Safe for concurrent use; a call blocks for the disk only.
type Threads struct {
	db  *sqlite.DB
	now func() time.Time
}

// Open prepares the tables; now is the clock, time.Now in a program.
func Open(ctx context.Context, db *sqlite.DB, now func() time.Time) (*Threads, error) {
	err := db.Migrate(ctx, "thread", `CREATE TABLE threads (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		platform TEXT NOT NULL, place TEXT NOT NULL, person TEXT NOT NULL,
		name TEXT NOT NULL, folded TEXT NOT NULL, title TEXT NOT NULL DEFAULT '', agent TEXT NOT NULL DEFAULT '',
		made INTEGER NOT NULL, used INTEGER NOT NULL);
		CREATE UNIQUE INDEX threads_name ON threads (platform, place, person, folded);
		CREATE TABLE threads_current (
		platform TEXT NOT NULL, place TEXT NOT NULL, person TEXT NOT NULL,
		thread INTEGER NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
		PRIMARY KEY (platform, place, person)) WITHOUT ROWID;
		CREATE TABLE threads_messages (
		seq INTEGER PRIMARY KEY AUTOINCREMENT,
		platform TEXT NOT NULL, place TEXT NOT NULL, message TEXT NOT NULL,
		thread INTEGER NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
		at INTEGER NOT NULL);
		CREATE UNIQUE INDEX threads_message ON threads_messages (platform, place, message);
		CREATE INDEX threads_place ON threads_messages (platform, place, seq);
		CREATE INDEX threads_thread ON threads_messages (thread);
		CREATE INDEX threads_at ON threads_messages (at)`)
	return &Threads{db, now}, err
}

// columns are what scan reads, of a query that has the parameters of Whose first.
const columns = `SELECT t.id, t.name, t.title, t.agent, t.made, t.used, c.thread IS NOT NULL FROM threads t
	LEFT JOIN threads_current c ON c.thread = t.id WHERE t.platform = ?1 AND t.place = ?2 AND t.person = ?3 `

// reader is a database or a transaction.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func query(ctx context.Context, from reader, where string, of Whose, also ...any) ([]Thread, error) {
	args := append([]any{of.Place.Platform, of.Place.ID, of.Person.ID}, also...)
	rows, err := from.QueryContext(ctx, columns+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // what matters is rows.Err
	var all []Thread
	for rows.Next() {
		var t Thread
		var made, used int64
		if err := rows.Scan(&t.ID, &t.Name, &t.Title, &t.Agent, &made, &used, &t.Current); err != nil {
			return nil, err
		}
		t.Made, t.Used = time.UnixMilli(made), time.UnixMilli(used)
		all = append(all, t)
	}
	return all, rows.Err()
}

func one(ctx context.Context, from reader, where string, of Whose, also ...any) (Thread, error) {
	all, err := query(ctx, from, where, of, also...)
	if err == nil && len(all) == 0 {
		err = ErrUnknown
	}
	if err != nil {
		return Thread{}, err
	}
	return all[0], nil
}

// current returns the current conversation of somebody, and begins their first.
func (s *Threads) current(ctx context.Context, tx *sql.Tx, of Whose) (Thread, error) {
	t, err := one(ctx, tx, `AND c.thread IS NOT NULL`, of)
	if errors.Is(err, ErrUnknown) {
		return s.begin(ctx, tx, of, "")
	}
	return t, err
}

// begin makes a conversation the current one; name "" takes the next number.
func (s *Threads) begin(ctx context.Context, tx *sql.Tx, of Whose, name string) (Thread, error) {
	all, err := query(ctx, tx, `ORDER BY t.used DESC, t.id DESC`, of)
	if err != nil {
		return Thread{}, err
	}
	taken := map[string]bool{}
	for _, t := range all {
		taken[fold(t.Name)] = true
	}
	for n := 1; name == ""; n++ {
		if number := strconv.Itoa(n); !taken[number] {
			name = number
		}
	}
	if taken[fold(name)] {
		return Thread{}, ErrTaken
	}
	for ; len(all) >= MostKept; all = all[:len(all)-1] {
		if _, err := tx.ExecContext(ctx, `DELETE FROM threads WHERE id = ?`, all[len(all)-1].ID); err != nil {
			return Thread{}, err
		}
	}
	now := s.now()
	res, err := tx.ExecContext(ctx, `INSERT INTO threads (platform, place, person, name, folded, made, used) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		of.Place.Platform, of.Place.ID, of.Person.ID, name, fold(name), now.UnixMilli(), now.UnixMilli())
	if err != nil {
		return Thread{}, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return Thread{}, err
	}
	t := Thread{ID: ID(id), Name: name, Made: now, Used: now, Current: true}
	return t, s.point(ctx, tx, of, t.ID)
}

// point makes a conversation the current one.
func (s *Threads) point(ctx context.Context, tx *sql.Tx, of Whose, id ID) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO threads_current (platform, place, person, thread) VALUES (?, ?, ?, ?)
		ON CONFLICT (platform, place, person) DO UPDATE SET thread = excluded.thread`,
		of.Place.Platform, of.Place.ID, of.Person.ID, id)
	return err
}

// fold is how names are compared.
func fold(name string) string { return strings.ToLower(name) }

// tidy makes one line of a name; false where it is none, or too long.
func tidy(name string) (string, bool) {
	name = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r == '`' || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, name)), " ")
	return name, name != "" && utf8.RuneCountInString(name) <= LongestName
}

func wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", verb, err)
}
