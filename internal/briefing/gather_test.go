package briefing

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

var (
	ann   = chat.Person{Platform: "web", ID: "7", Name: "Ann"}
	bob   = chat.Person{Platform: "web", ID: "8", Name: "Bob"}
	us    = chat.Person{Platform: "web", ID: "1", Name: "Mio", Us: true}
	dm    = chat.Place{Platform: "web", ID: "dm", Kind: chat.Direct}
	guild = chat.Place{Platform: "web", ID: "hall", Kind: chat.Group, Guild: "g"}
	noon  = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
)

// request is a turn of Ann in a place, with a message and files.
func request(place chat.Place, text string, files ...chat.Attachment) Request {
	ev := chat.Event{ID: "ev", Place: place, From: ann, Message: "m9", At: noon, Body: chat.Said{Text: text, Attachments: files}}
	turn := chat.NewTurn(chat.Talk, ev, chat.Owner, noon)
	return Request{Turn: turn, Can: agent.Can{Image: true, Tmp: "/data/tmp/sess_1_0"}, Session: "sess_1_0", Agent: "script", Model: "m"}
}

func said(id string, who chat.Person, text string) chat.Message {
	return chat.Message{ID: chat.MessageID(id), From: who, Text: text}
}

func recentOf(messages ...chat.Message) func(context.Context, chat.Place, chat.MessageID, int) ([]chat.Message, error) {
	return func(context.Context, chat.Place, chat.MessageID, int) ([]chat.Message, error) { return messages, nil }
}

func TestGatherAsksForWhatMayBeSeen(t *testing.T) {
	memories := map[bool][]string{true: {"public", "private"}, false: {"public"}}
	src := Sources{
		Important: func(_ context.Context, turn chat.Turn) ([]string, error) {
			if !turn.From.Same(ann) {
				t.Errorf("asked about %v", turn.From)
			}
			return memories[turn.Place.Private()], nil
		},
		Recent: func(_ context.Context, place chat.Place, before chat.MessageID, limit int) ([]chat.Message, error) {
			if before != "m9" || limit != 20 {
				t.Errorf("asked for %d before %s", limit, before)
			}
			return []chat.Message{said("m7", ann, "old"), said("m8", us, "yes"), said("m9", ann, "hi")}, nil
		},
	}
	for name, place := range map[string]chat.Place{"AF-71 direct": dm, "AF-71 in a guild": guild} {
		t.Run(name, func(t *testing.T) {
			m, err := Gather(t.Context(), src, request(place, "hi"), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if want := memories[place.Private()]; !slices.Equal(m.Memories, want) {
				t.Errorf("memories %q, want %q", m.Memories, want)
			}
			if len(m.Recent) != 2 || m.Recent[1].ID != "m8" || len(m.Current) != 1 {
				t.Errorf("recent %v, current %v: the message itself is not recent talk", m.Recent, m.Current)
			}
		})
	}
}

// AF-70
func TestGatherForgetsTalkBeforeClearButNotMemories(t *testing.T) {
	src := Sources{
		Important: func(context.Context, chat.Turn) ([]string, error) { return []string{"likes tea"}, nil },
		Recent:    recentOf(said("m1", ann, "a"), said("m2", bob, " /clear")),
	}
	m, err := Gather(t.Context(), src, request(guild, "hi"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	text := composed(t, Compose(m, plainPage, Vars{}, 20000))
	if strings.Contains(text, recentHeading) || !strings.Contains(text, "1. likes tea") {
		t.Errorf("got %s", text)
	}
}

func TestGatherSearchesOnlyInACommunity(t *testing.T) {
	for name, c := range map[string]struct {
		place chat.Place
		text  string
		want  int
	}{
		"in a guild":               {guild, "the tea", 1},
		"AF-73 without a guild":    {chat.Place{Platform: "misskey", ID: "note:1", Kind: chat.Broadcast}, "the tea", 0},
		"direct":                   {chat.Place{Platform: "web", ID: "x", Kind: chat.Direct, Guild: "g"}, "the tea", 0},
		"a text without any words": {guild, "  ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			src := Sources{Recent: recentOf(said("m1", ann, "tea")),
				Related: func(_ context.Context, _ chat.Place, query string, limit int) ([]chat.Message, error) {
					if query != "the tea" || limit != 10 {
						t.Errorf("asked for %d of %q", limit, query)
					}
					return []chat.Message{said("m1", ann, "tea"), said("x1", ann, "more tea")}, nil
				}}
			m, err := Gather(t.Context(), src, request(c.place, c.text), slog.New(slog.DiscardHandler))
			if err != nil || len(m.Related) != c.want {
				t.Errorf("related %v, %v", m.Related, err)
			}
		})
	}
}

func TestGatherWhenSourcesFail(t *testing.T) {
	broken := errors.New("broken")
	src := Sources{
		Important: func(context.Context, chat.Turn) ([]string, error) { return nil, broken },
		Recent:    recentOf(),
		Related:   func(context.Context, chat.Place, string, int) ([]chat.Message, error) { return nil, broken },
		Emojis:    func(context.Context, chat.Place) ([]chat.Emoji, error) { return nil, broken },
	}
	var log bytes.Buffer
	_, err := Gather(t.Context(), src, request(guild, "secret words"), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil || strings.Count(log.String(), "level=WARN") != 3 || strings.Contains(log.String(), "secret") {
		t.Errorf("%v; log:\n%s", err, &log)
	}
	src.Recent = func(context.Context, chat.Place, chat.MessageID, int) ([]chat.Message, error) { return nil, broken }
	if _, err = Gather(t.Context(), src, request(guild, "hi"), slog.New(slog.DiscardHandler)); !errors.Is(err, broken) {
		t.Errorf("recent talk failed, but the error is %v", err)
	}
}

func TestGatherLowersTheStandingToThatOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		recent []chat.Message
		want   chat.Trust
	}{
		"nobody else":       {[]chat.Message{said("m1", ann, "a"), said("m2", us, "b")}, chat.Owner},
		"somebody else":     {[]chat.Message{said("m1", bob, "a"), said("m2", us, "b")}, chat.Public},
		"before the /clear": {[]chat.Message{said("m1", bob, "a"), said("m2", ann, "/clear")}, chat.Owner},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(guild, "hi")
			if _, err := Gather(t.Context(), Sources{Recent: recentOf(c.recent...)}, r, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			if got := r.Turn.Standing.Now(); got != c.want {
				t.Errorf("standing is %v, want %v", got, c.want)
			}
		})
	}
}

// picture returns a file of the given size that begins as a PNG does.
func picture(size int) []byte {
	data := make([]byte, size)
	copy(data, "\x89PNG\x0D\x0A\x1A\x0A")
	return data
}

func attached(name string, size int64) chat.Attachment {
	return chat.Attachment{ID: name, Name: name, MIME: "image/png", Size: size, URL: "https://h/" + name}
}

func TestGatherFetchesPicturesOfTheMessageAlone(t *testing.T) {
	files := map[string][]byte{
		"small.png": picture(1 << 20), "large.png": picture(21 << 20), "liar.png": []byte("<html>no picture"),
		"unknown.png": picture(100), "endless.png": picture(20<<20 + 1), "moving.gif": []byte("GIF89a......"),
	}
	var asked []string
	src := Sources{
		Recent: recentOf(chat.Message{ID: "m1", From: ann, Text: "old", Attachments: []chat.Attachment{attached("old.png", 10)}}), // AF-89
		Fetch: func(_ context.Context, _ chat.Place, file chat.Attachment) (io.ReadCloser, error) {
			asked = append(asked, file.Name)
			if files[file.Name] == nil {
				return nil, errors.New("404")
			}
			return io.NopCloser(bytes.NewReader(files[file.Name])), nil
		},
	}
	r := request(dm, "look", attached("small.png", 1<<20), attached("large.png", 21<<20), attached("liar.png", 16), attached("gone.png", 9),
		attached("unknown.png", 0), attached("endless.png", 0), attached("moving.gif", 12), chat.Attachment{Name: "a.txt", MIME: "text/plain"})
	m, err := Gather(t.Context(), src, r, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"small.png", "liar.png", "gone.png", "unknown.png", "endless.png", "moving.gif"}; !slices.Equal(asked, want) {
		t.Errorf("fetched %q, want %q", asked, want)
	}
	b := Compose(m, plainPage, Vars{}, 20000) // AF-87: both are named, one is shown
	text := composed(t, b)
	if len(b.Blocks) != 3 || !strings.Contains(text, "📎 large.png (image/png 21.0MB)") || !strings.Contains(text, "📎 small.png (image/png 1.0MB)") {
		t.Errorf("%d blocks; %s", len(b.Blocks), text)
	}
	if !strings.Contains(text, "📎 old.png") {
		t.Error("AF-89: the older picture is not described")
	}
	shown, ok := b.Blocks[1].(agent.Image)
	if !ok || shown.MIME != "image/png" || len(shown.Data) != 1<<20 {
		t.Errorf("the second block is %T", b.Blocks[1])
	}
	asked, r.Can.Image = nil, false // AF-86
	if m, err = Gather(t.Context(), src, r, slog.New(slog.DiscardHandler)); err != nil || len(asked) > 0 || len(m.Images) > 0 {
		t.Errorf("an agent that takes no pictures: fetched %q, %v", asked, err)
	}
}

// BUG-N04: five photos in a row stay five lines: what was shown once is not kept, and not fetched again.
func TestPicturesOfTheTalkBeforeAreReferences(t *testing.T) {
	var before []chat.Message
	for _, id := range []string{"m1", "m2", "m3", "m4", "m5"} {
		before = append(before, chat.Message{ID: chat.MessageID(id), From: ann, Attachments: []chat.Attachment{attached(id+".png", 1<<20)}})
	}
	src := Sources{Recent: recentOf(before...), Fetch: func(_ context.Context, _ chat.Place, file chat.Attachment) (io.ReadCloser, error) {
		t.Errorf("fetched %s", file.Name)
		return nil, errors.New("404")
	}}
	m, err := Gather(t.Context(), src, request(dm, "which was best?"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b := Compose(m, plainPage, Vars{}, 20000)
	if text := composed(t, b); len(b.Blocks) != 1 || strings.Count(text, "📎") != 5 || !strings.Contains(text, "https://h/m3.png") {
		t.Errorf("%d blocks; %s", len(b.Blocks), text)
	}
}

// AF-88
func TestGatherDoesNotWaitLongForPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := Sources{Fetch: func(ctx context.Context, _ chat.Place, _ chat.Attachment) (io.ReadCloser, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		began := time.Now()
		m, err := Gather(t.Context(), src, request(dm, "look", attached("a.png", 1), attached("b.png", 1)), slog.New(slog.DiscardHandler))
		if err != nil || len(m.Images) != 0 || len(m.Current) != 1 {
			t.Errorf("%+v, %v", m, err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("waited %v", took)
		}
	})
}
