package outbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/tool"
)

// file makes a file to send.
func file(t *testing.T, name, text string) chat.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return chat.File{Path: path, Name: name, MIME: "text/plain", Size: int64(len(text))}
}

// AF-126: a caption is cleaned as a reply is, and it fits into one message.
func TestFilesGoOutOnceWithTheirCaption(t *testing.T) {
	net := &network{able: chat.Abilities{Files: true, MaxText: 20}}
	r, now := open(t, net, net), turn()
	receipts, sent, err := r.Attach(t.Context(), now, `<e>😆</e> a\nb hunter2hunter2 and more words`, []chat.File{file(t, "a.txt", "one"), file(t, "b.txt", "two")})
	if err != nil || sent != 2 || len(receipts) != 1 || receipts[0].Message != "m0" {
		t.Fatalf("%+v, %d, %v", receipts, sent, err)
	}
	post := net.got[0].(chat.SendFile)
	if len(post.Files) != 2 || post.ReplyTo != now.Answers() || post.Key == "" || !strings.HasPrefix(post.Text, "😆 a\nb [REDACTED") || len([]rune(post.Text)) > 20 {
		t.Errorf("%+v", post)
	}
	if done := r.Deeds(now); !done.FileSent || done.Replied || r.Reply(now.ID) != "m0" {
		t.Errorf("%+v", done)
	}
	var told tool.Fault
	if _, _, err := r.Attach(t.Context(), now, "", []chat.File{file(t, "a.txt", "one")}); !errors.As(err, &told) || told.Status != 429 || len(net.got) != 1 {
		t.Errorf("a second time: %v", err)
	}
	if replied, err := r.Replied(t.Context(), "e1"); !replied || err != nil {
		t.Errorf("files are no answer: %v", err)
	}
	if status, say := r.call(t, now, "send-reply", `{"message": "here"}`); status != 200 {
		t.Errorf("the reply is not free: %s", say)
	}
	if say := net.got[1].(chat.Say); say.ReplyTo != now.Answers() {
		t.Errorf("answers %q", say.ReplyTo)
	}
	if status, say := r.call(t, now, "edit-reply", `{"messageId": "m0", "message": "x"}`); status != 400 {
		t.Errorf("files were edited: %s", say)
	}
}

// Where the network takes that, a reply answers the files that were sent before.
func TestAReplyAnswersTheFiles(t *testing.T) {
	net := &network{able: chat.Abilities{Files: true, Chains: true}}
	r, now := open(t, net, net), turn()
	if _, _, err := r.Attach(t.Context(), now, "", []chat.File{file(t, "a.txt", "one")}); err != nil {
		t.Fatal(err)
	}
	if status, _ := r.call(t, now, "send-reply", `{"message": "here"}`); status != 200 || net.got[1].(chat.Say).ReplyTo != "m0" {
		t.Errorf("%+v", net.got)
	}
}

func TestFilesAreFittedToTheNetwork(t *testing.T) {
	net := &network{able: chat.Abilities{Files: true, MaxFiles: 2, MaxFileBytes: 10}}
	r := open(t, net, net)
	var all []chat.File
	for i, size := range []int{3, 3, 3, 8, 8} {
		all = append(all, file(t, fmt.Sprint(i), strings.Repeat("x", size)))
	}
	receipts, sent, err := r.Attach(t.Context(), turn(), "words", all)
	if err != nil || sent != 5 || len(receipts) != 4 || receipts[3].Message != "m3" {
		t.Fatalf("%+v, %d, %v", receipts, sent, err)
	}
	var got []string
	for _, a := range net.got {
		post := a.(chat.SendFile)
		names := post.Text + ":"
		for _, f := range post.Files {
			names += f.Name
		}
		got = append(got, names)
	}
	if strings.Join(got, " ") != "words:01 :2 :3 :4" {
		t.Errorf("%q", got)
	}
	net.got = nil
	for name, bad := range map[string]chat.File{"large": file(t, "b", strings.Repeat("x", 11)), "secret": file(t, "s", "a hunter2hunter2")} {
		var told tool.Fault
		net.able.MaxFileBytes = 20
		if name == "large" {
			net.able.MaxFileBytes = 10
		}
		if _, _, err := r.Attach(t.Context(), turn(), "", []chat.File{all[0], bad}); !errors.As(err, &told) || told.Status != 400 || len(net.got) > 0 {
			t.Errorf("%s: %v, %d sent", name, err, len(net.got))
		}
	}
	net.able.Files = false
	if _, _, err := r.Attach(t.Context(), turn(), "", all[:1]); err == nil || len(net.got) > 0 {
		t.Error("a network that takes no files")
	}
}

func TestFilesThatDoNotArrive(t *testing.T) {
	broken := errors.New("413")
	net := &network{able: chat.Abilities{Files: true, MaxFiles: 1}, refuse: []error{broken}}
	r, now := open(t, net, net), turn()
	all := []chat.File{file(t, "a", "1"), file(t, "b", "2")}
	if _, _, err := r.Attach(t.Context(), now, "", all); !errors.Is(err, broken) || r.Deeds(now).Any() {
		t.Fatalf("refused: %v", err)
	}
	net.refuse = []error{nil, broken}
	if receipts, sent, err := r.Attach(t.Context(), now, "", all); err != nil || sent != 1 || len(receipts) != 1 || !r.Deeds(now).FileSent {
		t.Errorf("a part: %+v, %d, %v", receipts, sent, err)
	}
	now, net.refuse = turn(), []error{platform.Uncertain{Err: broken}}
	if _, _, err := r.Attach(t.Context(), now, "", all); err == nil || !r.Deeds(now).FileSent {
		t.Errorf("nobody can tell, but it may be tried again: %v", err)
	}
	r.reopen(t)
	now, net.refuse = turn(), nil
	one := newRow(now, "k", chat.SendFile{Place: place, Files: []chat.File{{Path: "/gone"}}})
	if _, _, err := r.ledger.begin(t.Context(), []row{one}); err != nil {
		t.Fatal(err)
	}
	r.reopen(t)
	before := len(net.got)
	if lost := r.recover(t); !lost || len(net.got) != before {
		t.Errorf("cut off while it was sent: it may be lost: %v, sent %d", lost, len(net.got)-before)
	}
}
