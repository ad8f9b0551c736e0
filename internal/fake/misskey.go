package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"familiar/internal/platform/misskey/misskeytest"
)

// noteServer is a Misskey where everybody writes in one thread.
type noteServer struct {
	*misskeytest.Instance

	mu     sync.Mutex
	people map[string]misskeytest.User
}

func openMisskey(ctx context.Context, address string) (network, error) {
	in, err := misskeytest.Open(ctx, address)
	if err != nil {
		return nil, err
	}
	return &noteServer{Instance: in, people: map[string]misskeytest.User{}}, nil
}

func (s *noteServer) Config() (section, channels string) {
	return fmt.Sprintf("  misskey:\n    host: %s\n    secure: false\n    token: %s\n", s.Host(), misskeytest.Token),
		"    - {id: misskey/timeline/self, spontaneousPost: true}\n"
}

var noName = regexp.MustCompile(`\W`)

func (s *noteServer) Say(who, words string, how way) {
	s.mu.Lock()
	u, ok := s.people[who]
	if !ok {
		u = s.User(cmp.Or(noName.ReplaceAllString(strings.ToLower(who), ""), "somebody"), who, false)
		s.people[who] = u
	}
	s.mu.Unlock()
	if how == alone {
		s.Chat(u, words)
		return
	}
	d := misskeytest.Draft{Text: words}
	if how == mentioning {
		d.Text = "@" + s.Me().Username + " " + words
	}
	if all := s.Notes(); len(all) > 0 {
		d.ReplyTo = all[len(all)-1].ID
	}
	s.Write(u, d)
}

func (s *noteServer) Watch(ctx context.Context, tell func(string)) {
	w := watcher{noteServer: s, seen: map[string]string{}}
	for {
		changed := s.Changed()
		for _, line := range w.news() {
			tell(line)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// watcher knows what it told already.
type watcher struct {
	*noteServer
	seen   map[string]string // the reaction that each message had
	here   bool
	broken int
}

// news is what the bot did since the last look.
func (w *watcher) news() (lines []string) {
	if is := w.Streams() > 0; is != w.here {
		w.here = is
		lines = append(lines, map[bool]string{true: "the bot is here", false: "the bot is gone"}[is])
	}
	faults := w.Faults()
	for _, fault := range faults[w.broken:] {
		lines = append(lines, "a rule was broken: "+fault)
	}
	w.broken = len(faults)
	us, present := w.Me().ID, []string{}
	for _, n := range w.Notes() {
		present = append(present, n.ID)
		reaction := ""
		if n.MyReaction != nil {
			reaction = *n.MyReaction
		}
		lines = append(lines, w.tell(n.ID, n.Visibility+" note", n.UserID == us, words(n.Text, n.Files...), reaction)...)
	}
	for _, c := range w.Chats() {
		present = append(present, c.ID)
		reaction, files := "", []*misskeytest.DriveFile{}
		if len(c.Reactions) > 0 {
			reaction = c.Reactions[len(c.Reactions)-1].Reaction
		}
		if c.File != nil {
			files = append(files, c.File)
		}
		lines = append(lines, w.tell(c.ID, "chat", c.FromUserID == us, words(c.Text, files...), reaction)...)
	}
	for id := range w.seen {
		if !slices.Contains(present, id) {
			delete(w.seen, id)
			lines = append(lines, "a message was deleted")
		}
	}
	return lines
}

// tell is what is new about one message.
func (w *watcher) tell(id, where string, ours bool, words, reaction string) (lines []string) {
	was, known := w.seen[id]
	w.seen[id] = reaction
	if ours && !known {
		lines = append(lines, where+": "+words)
	}
	if reaction != was {
		lines = append(lines, fmt.Sprintf("%s: the bot puts %s on «%s»", where, reaction, words))
	}
	return lines
}

func words(text *string, files ...*misskeytest.DriveFile) string {
	all := ""
	if text != nil {
		all = *text
	}
	for _, f := range files {
		all += " [" + f.Name + " " + f.URL + "]"
	}
	return all
}
