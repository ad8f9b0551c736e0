package attachment

import (
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// sniffed is how much of a file tells its kind, in bytes.
const sniffed = 512

// kindOf is what a file is, by its content, and where that is only text or bytes by its name.
func kindOf(path, name string) string {
	const bytes, text = "application/octet-stream", "text/plain; charset=utf-8"
	kind := bytes
	if file, err := os.Open(path); err == nil {
		head, err := io.ReadAll(io.LimitReader(file, sniffed))
		_ = file.Close() // it was only read
		if err == nil {
			kind = http.DetectContentType(head)
		}
	}
	named := mime.TypeByExtension(strings.ToLower(filepath.Ext(name)))
	switch {
	case named == "" || kind != bytes && kind != text:
		return kind
	case kind == text && !strings.HasPrefix(named, "text/") && named != "application/json":
		return kind
	}
	return named
}
