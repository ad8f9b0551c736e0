// Command fake runs networks of our own on this machine, for trying a bot out offline: whatever is typed is said there by
// a person, and what the bot does there is printed. `make fake` starts it; main.go is the table of networks.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// network is one network of our own.
type network interface {
	// Config is the bot's section of platforms, in YAML, and the entries of access.channels that let it hear.
	Config() (section, channels string)
	// Say lets a person, who is made when there is none of that name, say something: in the common place, where the bot
	// is mentioned unless the words are quiet, or to the bot alone.
	Say(who, words string, how way)
	// Watch tells what the bot does, one line each, until ctx ends.
	Watch(ctx context.Context, tell func(line string))
	Close()
}

// way is how something is said.
type way int

const (
	mentioning way = iota // in the common place, to the bot
	quietly               // in the common place, to nobody
	alone                 // to the bot alone
)

// networks is the table of them.
var networks = []struct {
	name string
	open func(ctx context.Context, address string) (network, error)
	at   string // its address, the same at each start
}{
	{"discord", openDiscord, "127.0.0.1:8471"},
	{"misskey", openMisskey, "127.0.0.1:8472"},
}

const help = `Whatever you type is said to the bot in the common channel. Besides:
  /dm WORDS      to the bot alone          /quiet WORDS  in the channel, without mentioning it
  /as NAME       be somebody else          /on NETWORK   be on another network
  /help          this                      Ctrl-D        the end
`

func main() {
	ctx, leave := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdin, os.Stdout)
	leave()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake:", err)
		os.Exit(1)
	}
}

// run opens the networks, says how to reach them, and reads until the input or ctx ends.
func run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, end := context.WithCancel(ctx)
	open := map[string]network{}
	var watching sync.WaitGroup
	defer func() {
		end()
		watching.Wait()
		for _, n := range open {
			n.Close()
		}
	}()
	p := &printer{out: out}
	for _, n := range networks {
		made, err := n.open(ctx, n.at)
		if err != nil {
			return fmt.Errorf("open %s: %w", n.name, err)
		}
		open[n.name] = made
		watching.Go(func() { made.Watch(ctx, func(line string) { p.print("<%s> %s\n", n.name, line) }) })
	}
	p.print("%s", introduction(open))
	lines := make(chan string)
	go func() { // it ends with its input, or with the program
		defer close(lines)
		for scan := bufio.NewScanner(in); scan.Scan(); {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	who := speaker{name: "ann", on: networks[0].name}
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if err := who.take(line, open); err != nil {
				p.print("%v\n%s", err, help)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// introduction is what a person needs to know.
func introduction(open map[string]network) string {
	var b strings.Builder
	b.WriteString("Put this into the bot's config.yaml (familiar up --dir DIR), besides what it thinks with, and start it:\n\nversion: 1\nplatforms:\n  web: {}\n")
	channels := ""
	for _, n := range networks {
		section, entries := open[n.name].Config()
		b.WriteString(section)
		channels += entries
	}
	fmt.Fprintf(&b, "access:\n  replyPolicy: all\n  channels:\n%s\n%s\n", channels, help)
	return b.String()
}

// speaker is who types.
type speaker struct{ name, on string }

// take does what a line says.
func (s *speaker) take(line string, open map[string]network) error {
	line = strings.TrimSpace(line)
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	at := open[s.on]
	switch {
	case line == "":
	case word == "/dm" && rest != "":
		at.Say(s.name, rest, alone)
	case word == "/quiet" && rest != "":
		at.Say(s.name, rest, quietly)
	case word == "/as" && rest != "" && !strings.Contains(rest, " "):
		s.name = rest
	case word == "/on" && open[rest] != nil:
		s.on = rest
	case word == "/help":
		return errors.New("")
	case word == "/on":
		return fmt.Errorf("/on wants one of these behind it: %s", strings.Join(slices.Sorted(maps.Keys(open)), ", "))
	case slices.Contains([]string{"/dm", "/quiet", "/as"}, word):
		return fmt.Errorf("%s wants something else behind it", word)
	default: // a command is for the bot
		at.Say(s.name, line, mentioning)
	}
	return nil
}

// printer prints whole lines of several at once.
type printer struct {
	mu  sync.Mutex
	out io.Writer
}

func (p *printer) print(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, format, args...) //nolint:errcheck // there is nobody else to tell
}
