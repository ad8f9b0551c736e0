package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/chat"
)

// messageFiles is a message of ours with files: messageId, text, replyTo, files [{name, mimeType, size, path}].
const messageFiles = "message.files"

// The bounds of what one message sends.
const (
	maxFiles    = 10
	maxFileSize = 8 << 20 // bytes, together
	maxFileName = 200     // bytes
)

// filesSchema keeps what was sent with the messages that it was sent in.
const filesSchema = `CREATE TABLE web_files (session TEXT NOT NULL, message TEXT NOT NULL, number INTEGER NOT NULL,
	name TEXT NOT NULL, mime TEXT NOT NULL, data BLOB NOT NULL, at INTEGER NOT NULL,
	PRIMARY KEY (session, message, number)) WITHOUT ROWID; CREATE INDEX web_files_at ON web_files (at);`

type (
	sentFiles struct {
		Message chat.MessageID `json:"messageId"`
		Text    string         `json:"text,omitempty"`
		ReplyTo chat.MessageID `json:"replyTo,omitempty"`
		Files   []sentFile     `json:"files"`
	}
	sentFile struct {
		Name string `json:"name"`
		MIME string `json:"mimeType"`
		Size int    `json:"size"`
		Path string `json:"path"` // on this server
		data []byte
	}
)

// enclose reads the files of an action.
func enclose(files []chat.File) (all []sentFile, err error) {
	if len(files) == 0 || len(files) > maxFiles {
		return nil, fmt.Errorf("%d files in one message; 1 to %d are possible", len(files), maxFiles)
	}
	left := int64(maxFileSize)
	for _, f := range files {
		one := sentFile{Name: fileName(f.Name), MIME: "application/octet-stream"}
		if kind, _, err := mime.ParseMediaType(f.MIME); err == nil {
			one.MIME = kind
		}
		if one.data, err = readFile(f.Path, left); err != nil {
			return nil, fmt.Errorf("send %s: %w", one.Name, err)
		}
		one.Size = len(one.data)
		left -= int64(one.Size)
		all = append(all, one)
	}
	return all, nil
}

func readFile(path string, limit int64) (data []byte, err error) {
	in, err := os.Open(path) //nolint:gosec // whoever made the action checked it
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is no regular file"))
	}
	if data, err = io.ReadAll(io.LimitReader(in, limit+1)); err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the files of one message are larger than %d MiB together", maxFileSize>>20)
	}
	return data, err
}

// fileName makes a name that is only a name, on any system.
func fileName(name string) string {
	name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, "_"), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(`/:"*?<>|`, r) || unicode.Is(unicode.Cf, r) {
			return '_'
		}
		return r
	}, name)
	for len(name) > maxFileName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name = strings.TrimLeft(name, ". "); name == "" {
		return "file"
	}
	return name
}

// sendFiles writes a message with files on the stream. A key is posted once.
func sendFiles(ctx context.Context, p *pen, a chat.SendFile, files []sentFile) (chat.Receipt, error) {
	if err := fits(a.Text); err != nil {
		return chat.Receipt{}, err
	}
	if receipt, known, err := posted(ctx, p, a.Key); known || err != nil {
		return receipt, err
	}
	id := newID("b_")
	for i := range files {
		files[i].Path = fmt.Sprintf("/v1/sessions/%s/files/%s/%d", p.session, id, i)
		if _, err := p.tx.ExecContext(ctx, `INSERT INTO web_files VALUES (?, ?, ?, ?, ?, ?, ?)`, p.session, string(id), i,
			files[i].Name, files[i].MIME, files[i].data, p.at.UnixMilli()); err != nil {
			return chat.Receipt{}, fmt.Errorf("keep a file: %w", err)
		}
	}
	index, err := put(ctx, p, messageFiles, sentFiles{id, a.Text, a.ReplyTo, files})
	if err != nil {
		return chat.Receipt{}, err
	}
	return chat.Receipt{Message: id, At: p.at}, note(ctx, p, id, sql.NullString{String: a.Key, Valid: a.Key != ""}, index)
}

// file answers with a file that was sent, as something to be saved: nothing of it is shown or run here.
func (w *Web) file(rw http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || !isSession(r.PathValue("session")) {
		refuse(rw, errNoFile)
		return
	}
	var name, kind string
	var data []byte
	err = w.db.Read().QueryRowContext(r.Context(), `SELECT name, mime, data FROM web_files WHERE session = ? AND message = ? AND number = ?`,
		r.PathValue("session"), r.PathValue("message"), number).Scan(&name, &kind, &data)
	if errors.Is(err, sql.ErrNoRows) {
		refuse(rw, errNoFile)
		return
	}
	if err != nil {
		refuse(rw, w.broken("read a file", err))
		return
	}
	h := rw.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-store")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = rw.Write(data) // a client that goes is nobody to tell
}

var errNoFile = fault{status: http.StatusNotFound, say: "there is no such file, or it is no longer kept"}
