package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"path"

	"familiar/internal/answer"
)

//go:embed assets labels
var files embed.FS

var pages = template.Must(template.ParseFS(files, "assets/*.html"))

// policy lets the page load its own files and nothing else, and nobody frame it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// reading serves GET and HEAD with the headers that every answer of the console has.
type reading http.HandlerFunc

func (serve reading) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	h := rw.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		answer.Fail(rw, http.StatusMethodNotAllowed, "use GET")
		return
	}
	serve(rw, r)
}

// shown is what a page is made from.
type shown struct {
	Language string
	Name     string
	Words    map[string]string
}

func (c *Console) render(rw http.ResponseWriter, status int, name string) {
	bot := c.state().Bot
	page := shown{Language: language(bot.Language), Name: bot.Name, Words: words(bot.Language)}
	if page.Name == "" {
		page.Name = bot.ID
	}
	var out bytes.Buffer
	if err := pages.ExecuteTemplate(&out, name, page); err != nil {
		answer.Fail(rw, http.StatusInternalServerError, "something went wrong here")
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Cache-Control", "no-store")
	rw.WriteHeader(status)
	_, _ = rw.Write(out.Bytes())
}

// kinds are the files that are served as they are.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func file(rw http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	kind, ok := kinds[path.Ext(name)]
	if !ok {
		answer.Fail(rw, http.StatusNotFound, "there is nothing here")
		return
	}
	data, err := files.ReadFile("assets/" + path.Base(name))
	if err != nil {
		answer.Fail(rw, http.StatusNotFound, "there is nothing here")
		return
	}
	send(rw, r, kind, data)
}

// send answers with data, or with 304 when the browser has it: a new build is seen at the next load.
func send(rw http.ResponseWriter, r *http.Request, kind string, data []byte) {
	sum := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	h := rw.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = rw.Write(data)
}
