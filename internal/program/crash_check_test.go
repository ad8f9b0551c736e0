package program

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"familiar/internal/phrase"
	_ "familiar/internal/sqlite" // the driver
)

var (
	numbered = regexp.MustCompile(`crash-(\d+)`)
	answerTo = regexp.MustCompile(`^answer to crash-(\d+): `)
	quoted   = regexp.MustCompile(`\bmem_[0-9a-z_]+`)
)

// count asks the database, which the program may have open.
func (c *conversation) count(query string, args ...any) (n int) {
	c.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.dir, "state", "familiar.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err == nil {
		err = db.QueryRowContext(c.t.Context(), query, args...).Scan(&n)
		_ = db.Close()
	}
	if err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// streams reads all that every session's stream holds.
func (c *conversation) streams() map[*session][]event {
	c.t.Helper()
	all := map[*session][]event{}
	for _, s := range c.sessions {
		if s.id == "" {
			continue // nobody has spoken there
		}
		last := c.count(`SELECT max(idx) FROM web_events WHERE session = ?`, s.id)
		all[s] = c.follow(s.id, func(events []event) bool { return events[len(events)-1].Index >= last })
	}
	return all
}

// fate is what became of a message, by the stream of its session.
type fate struct {
	received                          int
	replies, answers, notices, inLine int
	saved                             []string // ids of memories that somebody was told of
}

// check looks at the end whether everything is as it was promised.
func (c *conversation) check(streams map[*session][]event) {
	c.t.Helper()
	fates := map[int]*fate{}
	for _, m := range c.all {
		fates[m.number] = &fate{}
	}
	for s, events := range streams {
		c.tell(s, events, fates)
	}
	lines := c.memories()
	for _, m := range c.all {
		c.judge(m, *fates[m.number], lines)
	}
	c.sum(fates, lines)
	for what, query := range map[string]string{
		"events are not finished":         `SELECT count(*) FROM inbox WHERE state <> 'done'`,
		"messages of ours wait":           `SELECT count(*) FROM outbox WHERE state = 'pending'`,
		"messages of ours are uncertain":  `SELECT count(*) FROM outbox WHERE state = 'unknown'`,
		"messages of ours did not go out": `SELECT count(*) FROM outbox WHERE state = 'failed'`,
		"turns are open on the streams":   `SELECT count(*) FROM web_turns`,
	} {
		if n := c.count(query); n > 0 {
			c.t.Errorf("%d %s", n, what)
		}
	}
	if left, err := filepath.Glob(filepath.Join(c.dir, "data", "workspaces", "*", "*", "tmp", "*")); err != nil || len(left) > 0 {
		c.t.Errorf("temporary folders of agents are left (%v): %v", err, left)
	}
	if strings.Contains(c.log.String(), "DATA RACE") {
		c.t.Error("a data race in the program")
	}
	c.nobodyLeft()
}

// tell reads the fates of a session's messages from its stream.
func (c *conversation) tell(s *session, events []event, fates map[int]*fate) {
	c.t.Helper()
	names, untold := map[string]*fate{}, map[string]*fate{}
	for _, ev := range events {
		switch ev.Type {
		case "message.received":
			n, _ := strconv.Atoi(numbered.FindStringSubmatch(ev.Data.Text)[1])
			names[ev.Data.Message] = fates[n]
			fates[n].received++
			if m := c.all[n-1]; m.session != s || m.text != ev.Data.Text {
				c.t.Errorf("crash-%d is not what was said, or where: %q", n, ev.Data.Text)
			}
		case "message.completed":
			f := names[ev.Data.ReplyTo]
			if f == nil {
				if f = untold[ev.Data.ReplyTo]; f == nil {
					f = &fate{}
					untold[ev.Data.ReplyTo] = f
				}
			}
			if to := answerTo.FindStringSubmatch(ev.Data.Text); to != nil {
				if n, _ := strconv.Atoi(to[1]); fates[n] != f && names[ev.Data.ReplyTo] != nil {
					c.t.Errorf("an answer to another message: %q", ev.Data.Text)
				}
			}
			c.add(f, ev.Data.Text)
		}
	}
	for _, f := range untold {
		if f.replies+f.answers+f.notices > 1 {
			c.t.Errorf("a message that is not on the stream had more than one outcome: %+v", *f)
		}
	}
	// Such a message was accepted and done with, when the kill came before it was on the stream and acknowledged, and
	// its sender did not post it again.
	given := 0
	for _, m := range c.all {
		if m.session == s && !m.accepted && fates[m.number].received == 0 {
			given++
		}
	}
	if len(untold) > given {
		c.t.Errorf("%d messages were answered that are not on the stream above; %d were given up by their senders", len(untold), given)
	}
}

// add takes one message of ours into account.
func (c *conversation) add(f *fate, text string) {
	c.t.Helper()
	book, err := phrase.In("en")
	if err != nil {
		c.t.Fatal(err)
	}
	ahead, _, _ := strings.Cut(book.Say(phrase.InLine, "|"), "|")
	switch {
	case text == book.Say(phrase.CutOff), text == book.Say(phrase.LostReply), text == book.Say(phrase.Sorry):
		f.notices++
	case strings.HasPrefix(text, ahead):
		f.inLine++
	case answerTo.MatchString(text):
		f.replies++
		f.saved = append(f.saved, quoted.FindString(text))
	default:
		f.answers++
		if told, _, _ := strings.Cut(book.Say(phrase.Remembered, "|"), "|"); strings.HasPrefix(text, told) {
			f.saved = append(f.saved, quoted.FindString(text))
		}
	}
}

// judge checks one message.
func (c *conversation) judge(m *said, f fate, lines map[string]string) {
	c.t.Helper()
	bad := func(why string) {
		c.t.Errorf("crash-%d (%s, accepted %v) %s: %+v", m.number, m.text, m.accepted, why, f)
	}
	if f.received > 1 || m.accepted && f.received == 0 {
		bad("is not on its stream once")
	}
	came := f.replies + f.answers + f.notices
	switch {
	case came > 1:
		bad("had more than one outcome")
	case came == 0 && f.received > 0:
		bad("had no outcome")
	case m.command() && f.replies > 0, !m.command() && f.answers > 0, m.session.way == failing && f.replies > 0:
		bad("had an outcome of the wrong kind")
	case f.inLine > 1:
		bad("was told its place twice")
	}
	for _, id := range f.saved {
		if !strings.Contains(lines[id], fmt.Sprintf("crash-%d ", m.number)) {
			bad("lost its memory " + id)
		}
	}
}

// memories returns the content of the owner's memories by id.
func (c *conversation) memories() map[string]string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "data", "workspaces", "web", "owner", "memory.private.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	all, contents, torn := map[string]string{}, map[string]bool{}, 0
	for raw := range bytes.Lines(text) {
		var line struct{ ID, Content string }
		if json.Unmarshal(raw, &line) != nil || line.ID == "" {
			torn++
			continue
		}
		if all[line.ID] != "" || contents[line.Content] {
			c.t.Errorf("a memory was saved twice: %q", line.Content)
		}
		all[line.ID], contents[line.Content] = line.Content, true
	}
	if torn > 0 && !strings.Contains(c.log.String(), "lines of a memory file were skipped") {
		c.t.Errorf("%d lines of the memory file are torn, and nobody was told", torn)
	}
	return all
}

// sum says what the run came to, and fails when nothing was tried.
func (c *conversation) sum(fates map[int]*fate, lines map[string]string) {
	c.t.Helper()
	var accepted int
	var all fate
	for _, m := range c.all {
		f := fates[m.number]
		if m.accepted {
			accepted++
		}
		all.received += f.received
		all.replies += f.replies
		all.answers += f.answers
		all.notices += f.notices
		all.inLine += f.inLine
	}
	c.t.Logf("%d messages, %d accepted, %d received; %d replies, %d answers of commands, %d notices, %d in line; %d memories",
		len(c.all), accepted, all.received, all.replies, all.answers, all.notices, all.inLine, len(lines))
	if all.replies == 0 || all.answers == 0 || all.notices == 0 {
		c.t.Error("the conversation was too short to show anything")
	}
}
