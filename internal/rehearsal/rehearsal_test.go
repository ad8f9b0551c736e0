package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/setting"
	"familiar/internal/tool"
)

// seat is the tools of a session.
type seat struct {
	session string
	fail    error
	said    []string
}

func (s *seat) Session() string    { return s.session }
func (s *seat) Tools() []tool.Tool { return nil }

func (s *seat) Call(_ context.Context, name string, args json.RawMessage) (tool.Result, error) {
	s.said = append(s.said, name+string(args))
	return tool.Result{}, s.fail
}

type rig struct {
	*Agent
	dir  string
	logs strings.Builder
}

func newRig(t *testing.T, reply string) *rig {
	r := &rig{dir: filepath.Join(t.TempDir(), "dry-run")}
	at := time.Date(2025, 1, 15, 10, 30, 0, 0, time.UTC)
	r.Agent = New(Deps{Dir: r.dir, Reply: reply, Now: func() time.Time { return at }, Log: slog.New(slog.NewTextHandler(&r.logs, nil))})
	return r
}

func (r *rig) prompt(t *testing.T, s *seat, kind chat.SessionType, turn chat.Turn) {
	t.Helper()
	open, err := r.Open(t.Context(), agent.Opening{Tools: s, Type: kind})
	if err != nil {
		t.Fatal(err)
	}
	if !open.Can().Rehearses {
		t.Error("the desk is not told that nobody thinks")
	}
	got, err := open.Prompt(t.Context(), turn, []agent.Block{agent.Text("who you are\n\nwhat was said"),
		agent.Image{MIME: "image/png", Data: make([]byte, 7)}}, nil)
	if err != nil || got.Stop != agent.EndTurn {
		t.Fatal(got, err)
	}
}

func (r *rig) files(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func caused() chat.Turn {
	return chat.NewTurn(chat.Talk, chat.Event{ID: "e", Body: chat.Said{Text: "hi"}}, chat.Owner, time.Now())
}

// AF-193
func TestAPromptIsWrittenAndAnswered(t *testing.T) {
	r, s := newRig(t, "a test"), &seat{session: "sess_m3x0a1b2_00112233445566778899aabbccddeeff"}
	r.prompt(t, s, "", caused())
	names := r.files(t)
	if len(names) != 1 || !regexp.MustCompile(`^message_2025-01-15T10-30-00-000Z_[0-9a-f]{8}\.md$`).MatchString(names[0]) {
		t.Fatalf("files %q", names)
	}
	path := filepath.Join(r.dir, names[0])
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "who you are\n\nwhat was said\n\n[image: image/png, 7 bytes]\n" {
		t.Errorf("the file says %q, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if len(s.said) != 1 || s.said[0] != `send-reply{"message":"a test"}` {
		t.Errorf("said %q", s.said)
	}
}

func TestTwoSessionsOfOneMomentAreTwoFiles(t *testing.T) {
	r := newRig(t, "")
	r.prompt(t, &seat{session: "sess_m3x0a1b2_00112233445566778899aabbccddeeff"}, chat.ResearchSession, caused())
	r.prompt(t, &seat{session: "sess_m3x0a1b2_00112233445566778899aabb00000000"}, chat.ResearchSession, caused())
	names := r.files(t)
	if len(names) != 2 || !strings.HasPrefix(names[0], "self_research_2025") {
		t.Errorf("files %q", names)
	}
}

func TestWhenNothingIsSaid(t *testing.T) {
	empty, s := newRig(t, ""), &seat{session: "sess_1"}
	empty.prompt(t, s, chat.MessageSession, caused())
	r := newRig(t, "a test")
	r.prompt(t, s, chat.MessageSession, chat.Turn{})
	if len(s.said) != 0 {
		t.Errorf("an empty answer, and one to nobody, said %q", s.said)
	}
	s.fail = errors.New("the network is away")
	r.prompt(t, s, chat.MessageSession, caused())
	if len(s.said) != 1 || !strings.Contains(r.logs.String(), "level=WARN") {
		t.Errorf("a reply that did not go out: said %q, logged %s", s.said, r.logs.String())
	}
}

func TestAFolderThatCannotBeMadeIsAnError(t *testing.T) {
	r := newRig(t, "a test")
	if err := os.WriteFile(r.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := &seat{session: "sess_1"}
	open, err := r.Open(t.Context(), agent.Opening{Tools: s})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.Prompt(t.Context(), caused(), nil, nil); err == nil || len(s.said) != 0 {
		t.Errorf("error %v, said %q", err, s.said)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		cfg      Config
		problems int
	}{{Defaults(), 0}, {Config{Enabled: true, OutputPath: "x"}, 1}, {Config{}, 1}} {
		var r setting.Report
		c.cfg.Check(&r)
		if len(r.Problems()) != c.problems {
			t.Errorf("%+v: %v", c.cfg, r.Problems())
		}
	}
}
