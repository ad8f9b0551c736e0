package cli

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/tool"
	"familiar/internal/toolserver"
)

// The command and the server that it is made for understand each other.
func TestSkillAgainstTheServer(t *testing.T) {
	type args struct {
		Message string `json:"message"`
	}
	box := tool.NewBox(nil, tool.New(tool.Tool{Name: "send-reply"}, func(_ context.Context, _ chat.Turn, a args) (args, error) {
		if strings.Contains(a.Message, "no") {
			return args{}, tool.Bad("not that")
		}
		return a, nil
	}))
	cfg := toolserver.Defaults()
	cfg.Port = 0
	server := toolserver.New(cfg, slog.New(slog.DiscardHandler))
	if err := server.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	defer func() { stop(); <-served }()
	seat := box.Seat("sess_1_a", []string{"send-reply"}, nil)
	seat.Begin(t.Context(), chat.Turn{})
	door, err := server.Admit(seat)
	if err != nil {
		t.Fatal(err)
	}
	r := newSkillRig(t)
	t.Setenv("SKILL_API_URL", door.SkillURL)
	t.Setenv("SKILL_API_TOKEN", door.Token)
	for _, c := range []struct {
		message, session string
		code, status     int
	}{
		{"héllo $HOME\n", "sess_1_a", 0, 200},
		{"no", "sess_1_a", 1, 400},
		{"hello", "sess_2_b", 1, 401},
	} {
		code, out, errs := r.run("", "send-reply", "-s", c.session, "--message-file", r.file("t", c.message))
		var a skillAnswer
		if err := json.Unmarshal([]byte(out), &a); err != nil || code != c.code || a.StatusCode != c.status || errs != "" {
			t.Fatalf("exit %d, %q, %q", code, out, errs)
		}
		if _, err := os.Stat(r.tmp + "/t"); (err == nil) != (c.code == 1) {
			t.Errorf("the file after exit %d: %v", c.code, err)
		}
	}
}
