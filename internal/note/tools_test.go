package note

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

// calls runs a tool for the turn of a session.
func (r *rig) calls(session, name string, args map[string]string) (string, error) {
	r.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		r.t.Fatal(err)
	}
	turn := chat.Turn{ID: chat.TurnID("turn-" + session), Standing: chat.NewStanding(chat.Foreign)}
	res, err := tool.NewBox(nil, Tools(r.Notes)...).Call(r.t.Context(), turn, name, raw)
	return string(res.Data), err
}

func TestTools(t *testing.T) {
	r := newRig(t)
	w := r.begin("sess_1")
	for _, c := range []struct {
		name, path, content, want string
		status                    int
	}{
		{"write-note", "notes/tea.md", "# Tea", `{"path":"notes/tea.md","added":false}`, 0},
		{"write-note", "notes/tea.md", "# Green tea", `{"path":"notes/tea.md","added":false}`, 0},
		{"write-note", "notes/_index.md", "- tea.md: green", `{"path":"notes/_index.md","added":true}`, 0},
		{"write-note", "notes/_index.md", "- tea.md: green\n- more", `{"path":"notes/_index.md","added":true}`, 0},
		{"write-note", "../notes/tea.md", "x", "", 400},
		{"write-note", "notes/../../x.md", "x", "", 400},
		{"write-note", "/etc/passwd", "x", "", 400},
		{"write-note", "notes/Tea.md", "x", "", 400},
		{"write-note", "README.md", "x", "", 400},
		{"write-note", "notes/tea.sh", "x", "", 400},
		{"write-note", "notes/a.md\x00", "x", "", 400},
		{"write-note", "notes/a.md", " ", "", 400},
		{"write-note", "notes/a.md", strings.Repeat("a", MostBytes+1), "", 400},
		{"read-note", "", "", `{"path":"notes/_index.md","content":"# Notes\n\n- coffee.md: roasting\n- tea.md: green\n- more"}`, 0},
		{"read-note", "notes/tea.md", "", `{"path":"notes/tea.md","content":"# Green tea"}`, 0},
		{"read-note", "notes/none.md", "", "", 404},
		{"read-note", "../../etc/passwd.md", "", "", 400},
	} {
		args := map[string]string{"path": c.path}
		if c.name == "write-note" {
			args["content"] = c.content
		}
		got, err := r.calls("sess_1", c.name, args)
		var fault tool.Fault
		if errors.As(err, &fault); fault.Status != c.status || c.status == 0 && err != nil || got != c.want {
			t.Errorf("%s %s: %s %v", c.name, c.path, got, err)
		}
	}
	if !w.Wrote() {
		t.Error("nothing was written")
	}
	d, err := w.Keep()
	if err != nil || len(d.Files) != 2 || d.Files[1].Text != "- tea.md: green\n- more" {
		t.Errorf("%v %+v", err, d)
	}
	for _, session := range []string{"sess_1", "sess_2"} { // it has ended; it never began
		var fault tool.Fault
		if _, err := r.calls(session, "write-note", map[string]string{"path": "notes/a.md", "content": "x"}); !errors.As(err, &fault) || fault.Status != 404 {
			t.Errorf("%s: %v", session, err)
		}
	}
}
