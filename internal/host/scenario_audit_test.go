package host

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"familiar/internal/audit"
)

// names stand for what differs from run to run, or from network to network. Safe for concurrent use.
type names struct {
	on // the network

	mu    sync.Mutex
	of    map[string]string
	last  map[string]string // what a name in braces stands for
	count map[string]int    // of each kind
}

func newNames(network on) *names {
	n := &names{on: network, of: map[string]string{}, last: map[string]string{}, count: map[string]int{}}
	n.alias(`"platform":"`+network.name+`"`, `"platform":"net"`)
	return n
}

// call lets what the network calls real be told by a name; {name} in a story is real.
func (n *names) call(real, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last["{"+name+"}"] = real
	if real != name {
		n.of[real] = name
	}
}

// person is call for somebody's account.
func (n *names) person(id, name string) {
	n.call(id, name)
	n.alias(n.on.name+"/"+id, "net/"+name)
}

// alias is call for what only networks that are told alike have a name for.
func (n *names) alias(real, name string) {
	if n.alike {
		n.call(real, name)
	}
}

// ids are the forms of what differs. A group within is the id itself.
var ids = []struct {
	kind string
	form *regexp.Regexp
}{
	{"session", regexp.MustCompile(`sess_[0-9a-z]+_[0-9a-f]+`)},
	{"memory", regexp.MustCompile(`mem_[0-9a-z]+_[0-9a-z]+`)},
	{"patch", regexp.MustCompile(`patch_[0-9a-z]+_[0-9a-z]+`)},
	{"reminder", regexp.MustCompile(`rem_[0-9a-z]+_[0-9a-z]+`)},
	{"code", regexp.MustCompile(`\b[2-9A-Z]{4}-[2-9A-Z]{4}\b`)},
	{"question", regexp.MustCompile("/yes ([0-9a-z]+)")},
}

// hide writes names in the place of ids, and each text as one line.
func (n *names) hide(lines []string) (hidden []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, line := range lines {
		for _, id := range ids {
			for _, found := range id.form.FindAllStringSubmatch(line, -1) {
				real := found[len(found)-1]
				line = strings.ReplaceAll(line, real, n.number(id.kind, real))
			}
		}
		for _, real := range slices.SortedFunc(maps.Keys(n.of), longest) {
			line = strings.ReplaceAll(line, real, n.of[real])
		}
		hidden = append(hidden, strings.ReplaceAll(line, "\n", `\n`))
	}
	return hidden
}

// longest comes first: an id may be part of another one.
func longest(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) }

// memory gives a memory its name.
func (n *names) memory(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.number("memory", id)
}

// number is what an id is called: by its kind and a number. The lock is held.
func (n *names) number(kind, real string) string {
	if strings.HasPrefix(real, "{") {
		return real
	}
	if n.of[real] == "" {
		n.count[kind]++
		n.of[real] = fmt.Sprintf("{%s-%d}", kind, n.count[kind])
		n.last[n.of[real]] = real
	}
	return n.of[real]
}

// show writes ids in the place of names.
func (n *names) show(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, real := range n.last {
		text = strings.ReplaceAll(text, name, real)
	}
	return text
}

// uncertain are the fields of the audit that differ from run to run, or with every word of a prompt.
var uncertain = regexp.MustCompile(`"(durationMs|skillDurationMs|promptLength|estimatedTokens)":[0-9]+`)

// hashes are shortened: eight digits tell texts apart.
var hashes = regexp.MustCompile(`(sha256:[0-9a-f]{8})[0-9a-f]{56}`)

// audit is what is recorded: each session with its lines, then who was turned away.
func (s *scenario) audit() string {
	s.t.Helper()
	dir := filepath.Join(s.home, "data", audit.Folder)
	all, err := audit.List(dir, audit.Wanted{})
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, r := range all {
		lines = append(lines, fmt.Sprintf("%s of %s", r.Session, r.Person))
		whole, err := audit.Find(dir, r.Session)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, l := range whole.Lines {
			lines = append(lines, fmt.Sprintf("  %s %s", l.Phase, hashes.ReplaceAllString(uncertain.ReplaceAllString(string(l.Data), `"$1":"…"`), "$1")))
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "refused.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var refused struct{ Rule, Kind, Place, From, Message string }
		if line == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &refused); err != nil {
			s.t.Fatal(err)
		}
		if refused.Rule == "self" && s.names.alike {
			continue // not every network tells the bot what it said itself
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("turned away by %s: %s of %s in %s %s", refused.Rule, refused.Kind, refused.From, refused.Place, refused.Message)))
	}
	return strings.Join(append(s.names.hide(lines), ""), "\n")
}
