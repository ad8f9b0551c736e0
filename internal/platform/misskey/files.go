package misskey

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"familiar/internal/chat"
	"familiar/internal/egress"
	"familiar/internal/platform/misskey/api"
)

// Bounds of a file that came with a message.
const (
	fetchTime = time.Minute
	fetchMost = 50 << 20
)

func newFiles(cfg Config) *egress.Client {
	return egress.New(egress.Options{Timeout: fetchTime, MaxBytes: fetchMost, UserAgent: "Familiar", Hosts: []string{cfg.Host}})
}

// Fetch opens a file of a message. Its address comes from outside: it leads to the instance or to the public internet.
func (m *Misskey) Fetch(ctx context.Context, f chat.Attachment) (io.ReadCloser, error) {
	answer, err := m.files.Get(ctx, f.URL)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// fileID is the parameters of a call about a file.
type fileID struct {
	FileID string `json:"fileId"`
}

// sendFiles puts files into our drive and then into one note, or into one chat message each; the caption is with the
// first. What was uploaded and stands in no message is deleted again.
func (m *Misskey) sendFiles(ctx context.Context, at place, a chat.SendFile) (chat.Receipt, error) {
	if len(a.Files) == 0 || len(a.Files) > maxFiles {
		return chat.Receipt{}, fmt.Errorf("send files: %d files, and a note takes 1 to %d", len(a.Files), maxFiles)
	}
	p, err := post{}, error(nil)
	if at.kind != chatPlace {
		if p, err = m.address(ctx, at, a.ReplyTo); err != nil {
			return chat.Receipt{}, err
		}
	}
	for _, f := range a.Files {
		id, err := m.uploadFile(ctx, f)
		if err != nil {
			m.discard(ctx, p.FileIDs)
			return chat.Receipt{}, fmt.Errorf("send files: upload %s: %w", f.Name, api.Judge(err, false))
		}
		p.FileIDs = append(p.FileIDs, id)
	}
	if at.kind == chatPlace {
		return m.writeFiles(ctx, at.ref, a.Text, p.FileIDs)
	}
	p.Text = a.Text
	receipt, err := m.publish(ctx, p)
	if err != nil && !unsettled(err) { // a note that may be there may show them
		m.discard(ctx, p.FileIDs)
	}
	return receipt, err
}

// writeFiles writes one chat message for each file. When that fails midway, the receipt tells what went out.
func (m *Misskey) writeFiles(ctx context.Context, to, caption string, ids []string) (done chat.Receipt, _ error) {
	for i, id := range ids {
		receipt, err := m.write(ctx, letter{ToUserID: to, Text: caption, FileID: id})
		if err != nil {
			unused := ids[i:]
			if unsettled(err) {
				unused = ids[i+1:]
			}
			m.discard(ctx, unused)
			if i > 0 { // some of it is there: to ask again would double that
				err = fmt.Errorf("send files: %d of %d went out: %w", i, len(ids), settled(err))
			}
			return done, err
		}
		caption = ""
		done = receipt
	}
	return done, nil
}

func (m *Misskey) uploadFile(ctx context.Context, f chat.File) (string, error) {
	content, err := os.Open(f.Path)
	if err != nil {
		return "", err
	}
	defer content.Close() //nolint:errcheck // it was only read
	return m.api.Upload(ctx, f.Name, content)
}

// discard deletes files that nothing shows, as far as that can be done.
func (m *Misskey) discard(ctx context.Context, ids []string) {
	ctx = context.WithoutCancel(ctx)
	for _, id := range ids {
		if _, err := api.Call[api.Nothing](ctx, m.api, "drive/files/delete", fileID{id}); err != nil {
			m.log.Warn("a file that nothing shows could not be deleted from the drive", "file", id, chat.KeyErr, err)
		}
	}
}
