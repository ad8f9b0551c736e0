package misskey

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey/misskeytest"
)

func files(t *testing.T, names ...string) (all []chat.File) {
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, chat.File{Path: path, Name: name, MIME: "text/plain"})
	}
	return all
}

// Files of a note stand in one note, those of a chat in a message each with the caption on the first.
func TestFilesAreSent(t *testing.T) {
	r := connected(t)
	ev, talk := r.mention(misskeytest.Draft{Text: "@familiar hi"}), r.event(r.Chat(r.ann, "hi").ID)
	r.do(chat.SendFile{Place: ev.Place, Files: files(t, "a.txt", "b.txt"), Text: "two files", ReplyTo: ev.Message})
	if n := r.ours()[0]; len(n.Files) != 2 || n.Files[0].Name != "a.txt" || string(n.Files[1].Content) != "content of b.txt" || *n.Text != "two files" || *n.ReplyID != string(ev.Message) {
		t.Errorf("%+v", n)
	}
	receipt := r.do(chat.SendFile{Place: talk.Place, Files: files(t, "a.txt", "b.txt"), Text: "two files"})
	chats := r.Chats()[1:]
	if len(chats) != 2 || *chats[0].Text != "two files" || chats[1].Text != nil || chats[1].File.Name != "b.txt" {
		t.Fatalf("%+v", chats)
	}
	if can := r.Abilities().In(talk.Place); string(receipt.Message) != chats[1].ID || can.MaxFiles != 1 {
		t.Errorf("%+v", receipt)
	}
}

// What was uploaded and stands in no message is deleted; what went out of several is told.
func TestFilesThatFail(t *testing.T) {
	refused := misskeytest.Refusal(400, "NO_SUCH_FILE")
	for _, c := range []struct {
		name, path string
		chat       bool
		plans      []misskeytest.Misbehaviour
		left       int
		says       string
		unsure     bool
	}{
		{"the second upload", "drive/files/create", false, []misskeytest.Misbehaviour{{}, {Status: 413, Body: "<html>too large"}}, 0, "upload b.txt", false},
		{"the note", "notes/create", false, []misskeytest.Misbehaviour{refused}, 0, "", false},
		{"the note, or nobody knows", "notes/create", false, []misskeytest.Misbehaviour{{Break: true, Done: true}}, 2, "", true},
		{"the first message", "chat/messages/create-to-user", true, []misskeytest.Misbehaviour{refused}, 0, "", false},
		{"the second message", "chat/messages/create-to-user", true, []misskeytest.Misbehaviour{{}, refused}, 1, "1 of 2 went out", false},
		{"the second message, for now", "chat/messages/create-to-user", true, []misskeytest.Misbehaviour{{}, {Status: 429}}, 1, "1 of 2 went out", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := connected(t)
			place := r.mention(misskeytest.Draft{Text: "@familiar hi"}).Place
			if c.chat {
				place = r.event(r.Chat(r.ann, "hi").ID).Place
			}
			r.Misbehave(c.path, c.plans...)
			receipt, err := r.Do(t.Context(), chat.SendFile{Place: place, Files: files(t, "a.txt", "b.txt"), Text: "two"})
			if err == nil || !strings.Contains(err.Error(), c.says) || unsettled(err) != c.unsure {
				t.Errorf("got %v", err)
			}
			if left := r.Files(); len(left) != c.left {
				t.Errorf("%d files are left in the drive, want %d", len(left), c.left)
			}
			if partly := strings.Contains(c.says, "went out"); partly != (receipt.Message != "") || partly && temporary(err) {
				t.Errorf("receipt %+v, error %v", receipt, err)
			}
		})
	}
	r := connected(t)
	place := r.mention(misskeytest.Draft{Text: "@familiar hi"}).Place
	if _, err := r.Do(t.Context(), chat.SendFile{Place: place, Files: []chat.File{{Path: "/nowhere/x", Name: "x"}}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
