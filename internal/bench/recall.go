package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/memory"
	"familiar/internal/memory/index"
	"familiar/internal/sqlite"
)

// shelf is a person with many memories, and the store that finds them.
type shelf struct {
	corpus *corpus
	dir    string
	db     *sqlite.DB
	store  *memory.Store
	work   *work
}

// top is how many memories a question asks for.
const top = 10

// newShelf writes n memories and has them indexed.
func newShelf(ctx context.Context, dir string, n int) (s *shelf, built time.Duration, err error) {
	s = &shelf{corpus: newCorpus(n), dir: dir, work: calibrate()}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, 0, err
	}
	if err := s.corpus.write(s.file(), 100); err != nil {
		return nil, 0, err
	}
	if s.db, err = sqlite.Open(ctx, filepath.Join(dir, "a.db")); err != nil {
		return nil, 0, err
	}
	if err := s.start(ctx); err != nil {
		return nil, 0, err
	}
	if _, err := s.store.Important(ctx, owner, true); err != nil { // a file is indexed when it was looked at
		return nil, 0, err
	}
	began := time.Now()
	if err := s.store.Settle(ctx); err != nil {
		return nil, 0, err
	}
	return s, time.Since(began), s.start(ctx)
}

func (s *shelf) file() string { return filepath.Join(s.dir, "memory.private.jsonl") }

// start opens the store as a start of the bot does: nothing is held in memory.
func (s *shelf) start(ctx context.Context) error {
	x, err := index.Open(ctx, s.db)
	if err != nil {
		return err
	}
	cfg := memory.Defaults()
	cfg.MaxChars = 1 << 20
	s.store = memory.Open(cfg, func(string, string) (string, error) { return s.dir, nil }, x, slog.New(slog.DiscardHandler))
	return nil
}

// measureMemory measures the search and what is told at the start of a conversation.
func measureMemory(ctx context.Context, dir string, p plan, t *table) (err error) {
	s, built, err := newShelf(ctx, filepath.Join(dir, "many"), p.memories)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	if err := s.sizes(p, built, t); err != nil {
		return err
	}
	for _, k := range s.corpus.kinds() {
		if err := s.search(ctx, k, p, t); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	if err := s.append(ctx, t); err != nil {
		return err
	}
	return measureImportant(ctx, filepath.Join(dir, "some"), t)
}

func (s *shelf) sizes(p plan, built time.Duration, t *table) error {
	text, err := os.Stat(s.file())
	if err != nil {
		return err
	}
	db, err := os.Stat(filepath.Join(s.dir, "a.db"))
	if err != nil {
		return err
	}
	size := float64(db.Size()) / 1e6
	t.add(row{what: fmt.Sprintf("index of %d memories", p.memories), unit: "MB", got: size, base: against("their file", float64(text.Size())/1e6, size, "MB")})
	t.add(row{what: "building it", unit: "ms", got: ms(built)})
	return nil
}

// search asks questions of one kind.
func (s *shelf) search(ctx context.Context, k kind, p plan, t *table) error {
	var took, grep, busy []time.Duration
	right, all := 0, 0
	for i := range p.questions {
		question := k.ask()
		began := time.Now()
		found, err := s.store.Search(ctx, owner, true, question, top)
		took = append(took, time.Since(began))
		busy = append(busy, s.work.do())
		if err != nil {
			return err
		}
		if i < p.questions/10+1 {
			want := s.corpus.best(question, top)
			all += len(want)
			for at, m := range found {
				if at < len(want) && m.Content == s.corpus.texts[want[at]] {
					right++
				}
			}
			if len(found) > len(want) {
				return fmt.Errorf("%q: found %d, not %d", question, len(found), len(want))
			}
			if once, err := ripgrep(ctx, question, s.file()); err != nil {
				return err
			} else if once > 0 {
				grep = append(grep, once)
			}
		}
	}
	recall := fmt.Sprintf("recall@%d %d of %d by brute force", top, right, all)
	base := recall
	if len(grep) > 0 {
		base = against("ripgrep, p50", ms(quantile(grep, 0.5)), ms(quantile(took, 0.5)), "ms") + "; " + recall
	}
	t.add(row{what: "search, " + k.name + ", p50", unit: "ms", got: ms(quantile(took, 0.5)), base: base})
	t.add(row{what: "search, " + k.name + ", p99", unit: "ms", got: ms(quantile(took, 0.99)), budget: 10,
		base: fmt.Sprintf("1 ms of work for a processor: %s", figure(ms(quantile(busy, 0.99)), "ms"))})
	return nil
}

// ripgrep looks for the words of a question in a file; 0 where there is no ripgrep.
func ripgrep(ctx context.Context, question, file string) (time.Duration, error) {
	path, err := exec.LookPath("rg")
	if err != nil {
		return 0, nil
	}
	args := []string{"--json", "--max-count", "10", "-F"}
	for _, w := range strings.Fields(question) {
		args = append(args, "-e", w)
	}
	began := time.Now()
	err = exec.CommandContext(ctx, path, append(args, "--", file)...).Run() //nolint:gosec // words of ours
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // nothing found
		err = nil
	}
	return time.Since(began), err
}

// append saves memories beside the disk alone.
func (s *shelf) append(ctx context.Context, t *table) error {
	file, err := os.Create(filepath.Join(s.dir, "fsync")) //nolint:gosec // in a directory that we made
	if err != nil {
		return err
	}
	defer file.Close()
	var took, disk []time.Duration
	for i := range 200 {
		began := time.Now()
		if _, err := s.store.Save(ctx, owner, true, memory.Draft{Content: s.corpus.text(i), Standing: chat.Owner}); err != nil {
			return err
		}
		took = append(took, time.Since(began))
		began = time.Now()
		if _, err := file.WriteString(s.corpus.texts[i%len(s.corpus.texts)] + "\n"); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		disk = append(disk, time.Since(began))
	}
	got := ms(quantile(took, 0.5))
	t.add(row{what: "saving one, p50", unit: "ms", got: got, base: against("one line and one fsync", ms(quantile(disk, 0.5)), got, "ms")})
	return nil
}

// measureImportant measures the first look after a start at a person of ten thousand memories.
func measureImportant(ctx context.Context, dir string, t *table) (err error) {
	s, _, err := newShelf(ctx, dir, 10_000)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	var took, read []time.Duration
	for range 100 {
		if err := s.start(ctx); err != nil {
			return err
		}
		began := time.Now()
		found, err := s.store.Important(ctx, owner, true)
		took = append(took, time.Since(began))
		if err != nil || len(found) != 100 {
			return errors.Join(fmt.Errorf("%d important memories, not 100", len(found)), err)
		}
		began = time.Now()
		if _, err := os.ReadFile(s.file()); err != nil {
			return err
		}
		read = append(read, time.Since(began))
	}
	slices.Sort(took)
	got := ms(quantile(took, 0.5))
	t.add(row{what: "100 important of 10,000, first look after a start, p50", unit: "ms", got: got, budget: 5,
		base: against("reading the file's bytes", ms(quantile(read, 0.5)), got, "ms")})
	t.add(row{what: "the same, p99", unit: "ms", got: ms(quantile(took, 0.99))})
	return nil
}
