package console

import (
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask makes one request to a console.
func ask(o Options, method, path string, header http.Header) *httptest.ResponseRecorder {
	if o.State == nil {
		o.State = ready
	}
	mux := http.NewServeMux()
	New(o).Routes(mux)
	req := httptest.NewRequest(method, path, nil)
	maps.Copy(req.Header, header)
	rec := httptest.NewRecorder()
	mux.ServeHTTP(rec, req)
	return rec
}

func TestWhatIsServed(t *testing.T) {
	out := func(*http.Request) bool { return false }
	for _, c := range []struct {
		method, path string
		loggedIn     func(*http.Request) bool
		status       int
		kind, says   string
	}{
		{"GET", "/", nil, 200, "text/html", "<title>Mochi</title>"},
		{"HEAD", "/", nil, 200, "text/html", ""},
		{"GET", "/", out, 401, "text/html", "familiar open"},
		{"POST", "/", nil, 405, "application/json", `{"error":`},
		{"GET", "/console/state", nil, 200, "application/json", `"agent":{"name":"OpenCode"`},
		{"GET", "/console/state", out, 401, "application/json", `{"error":`},
		{"GET", "/console/labels.json", nil, 200, "application/json", `"send"`},
		{"GET", "/console/app.js", out, 200, "text/javascript", "import"},
		{"GET", "/console/app.css", out, 200, "text/css", ":root"},
		{"GET", "/console/icon.svg", out, 200, "image/svg+xml", "<svg"},
		{"GET", "/console/page.html", nil, 404, "application/json", `{"error":`},
		{"GET", "/console/none.js", nil, 404, "application/json", `{"error":`},
		{"GET", "/console/..%2fconsole.go", nil, 404, "application/json", `{"error":`},
		{"GET", "/console/..%2flabels%2fen.json", nil, 404, "application/json", `{"error":`},
		{"DELETE", "/console/state", nil, 405, "application/json", `{"error":`},
	} {
		rec := ask(Options{LoggedIn: c.loggedIn}, c.method, c.path, nil)
		if rec.Code != c.status || !strings.HasPrefix(rec.Header().Get("Content-Type"), c.kind) ||
			!strings.Contains(rec.Body.String(), c.says) {
			t.Errorf("%s %s: %d %s %.80s", c.method, c.path, rec.Code, rec.Header().Get("Content-Type"), rec.Body)
		}
		for key, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": policy, "X-Frame-Options": "DENY"} {
			if got := rec.Header().Get(key); got != want {
				t.Errorf("%s %s: %s is %q", c.method, c.path, key, got)
			}
		}
		if rec.Header().Get("Cache-Control") == "" && rec.Code == 200 {
			t.Errorf("%s %s may be kept for ever", c.method, c.path)
		}
		if c.loggedIn != nil && c.path == "/" && strings.Contains(rec.Body.String(), "Mochi") {
			t.Error("the locked page names the bot")
		}
	}
}

func TestAFileIsSentOnce(t *testing.T) {
	tag := ask(Options{}, "GET", "/console/app.js", nil).Header().Get("ETag")
	again := ask(Options{}, "GET", "/console/app.js", http.Header{"If-None-Match": {tag}})
	if tag == "" || again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("tag %q: %d, %d bytes", tag, again.Code, again.Body.Len())
	}
}

func TestANameIsNoMarkup(t *testing.T) {
	o := Options{State: func() State {
		return State{Bot: Bot{ID: "x", Name: `</title><script>alert(1)</script>`, Language: `"><b>`}}
	}}
	body := ask(o, "GET", "/", nil).Body.String()
	if strings.Contains(body, "<script>") || !strings.Contains(body, `<html lang="en">`) {
		t.Error(body)
	}
}

// What the policy forbids is not in the files either, and nothing of them reads markup from a text.
func TestTheFilesLoadNothingAndTrustNothing(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|` +
		`DOMParser|srcdoc|\sstyle="|\son[a-z]+="|<script>|<style|@import|url\(|//[a-z0-9-]+\.[a-z]{2,}`)
	err := fs.WalkDir(files, "assets", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		text := strings.ReplaceAll(string(data), `xmlns="http://www.w3.org/2000/svg"`, "")
		if found := forbidden.FindString(text); found != "" {
			t.Errorf("%s has %q", path, found)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestEveryLanguageHasEveryWord(t *testing.T) {
	used := map[string]bool{}
	for _, pattern := range []string{"assets/*.js", "assets/*.html"} {
		names, err := fs.Glob(files, pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range names {
			data, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`word\("(\w+)"|\.Words\.(\w+)|button\("(\w+)"|403: "(\w+)", 503: "(\w+)"|\? "(offline)" : "(reconnecting)"`).
				FindAllStringSubmatch(string(data), -1) {
				for _, key := range m[1:] {
					used[key] = true
				}
			}
		}
	}
	delete(used, "")
	want := slices.Sorted(maps.Keys(used))
	holes := regexp.MustCompile(`\{\w+\}`)
	for _, l := range languages {
		all := words(l)
		if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
			t.Errorf("%s has %q\nthe page uses %q", l, got, want)
		}
		for key, text := range all {
			if text == "" || !slices.Equal(holes.FindAllString(text, -1), holes.FindAllString(words("en")[key], -1)) {
				t.Errorf("%s: %s is %q", l, key, text)
			}
		}
	}
}
