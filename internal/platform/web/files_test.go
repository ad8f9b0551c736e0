package web

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/chat"
)

// BUG-J12: whatever a file is called, its name is only a name, on any system.
func TestFileName(t *testing.T) {
	for name, want := range map[string]string{"../../x": "x", `..\\..\\x`: "x", "memory-export.md": "memory-export.md", "": "file",
		"..": "file", "a\nb\"c": "a_b_c", "/": "_", "記憶.md": "記憶.md", "\u202eexe.md": "_exe.md", "\xff": "_", ".bashrc": "bashrc",
		strings.Repeat("茶", 300): strings.Repeat("茶", 66)} {
		if got := fileName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A file that was sent can be saved from the page, once it is known by its path; nothing of it is shown or run.
func TestASentFileCanBeSaved(t *testing.T) {
	w := fresh(t)
	mux := http.NewServeMux()
	w.Routes(mux)
	call := func(method, path string) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, path, nil))
		return rec
	}
	session, other := w.begin("hello"), w.begin("another")
	path := filepath.Join(t.TempDir(), "x")
	const page = "<script>alert(1)</script>"
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	send := func(f chat.File) (chat.Receipt, error) {
		return w.Do(t.Context(), chat.SendFile{Place: placeOf(session), Key: "k" + f.Name, Files: []chat.File{f}})
	}
	sent, err := send(chat.File{Path: path, Name: "../page.html", MIME: "text/html; charset=utf-8"})
	again, twice := send(chat.File{Path: path, Name: "../page.html", MIME: "text/html; charset=utf-8"})
	if err != nil || twice != nil || again != sent {
		t.Fatal(sent, err, again, twice)
	}
	at := "/v1/sessions/" + session + "/files/" + string(sent.Message) + "/0"
	lines, err := w.lines(t.Context(), session, 0, 100, 100)
	if last := lines[len(lines)-1]; err != nil || last.Type != messageFiles || !strings.Contains(string(last.Data), `"path":"`+at+`"`) {
		t.Fatalf("%v %s", err, last.Data)
	}
	rec := call("GET", at)
	for name, want := range map[string]string{"Content-Disposition": "attachment; filename=page.html", "Content-Type": "text/html",
		"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'"} {
		if got := rec.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if rec.Code != 200 || rec.Body.String() != page {
		t.Errorf("%d %q", rec.Code, rec.Body)
	}
	for _, wrong := range []string{at + "1", strings.Replace(at, "/0", "/x", 1), strings.Replace(at, session, other, 1)} {
		if rec := call("GET", wrong); rec.Code != 404 {
			t.Errorf("%s: %d", wrong, rec.Code)
		}
	}
	if rec := call("POST", at); rec.Code != 405 {
		t.Errorf("POST: %d", rec.Code)
	}
	if err := os.Truncate(path, maxFileSize+1); err != nil {
		t.Fatal(err)
	}
	for _, f := range []chat.File{{Path: path, Name: "large"}, {Path: t.TempDir(), Name: "dir"}, {Path: path + "no", Name: "none"}} {
		if _, err := send(f); err == nil {
			t.Errorf("%s was sent", f.Name)
		}
	}
}
