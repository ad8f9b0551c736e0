package misskey

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/platform/misskey/misskeytest"
)

// peer is the Misskey project's own client, connected to the fake.
type peer struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Scanner
	errs *strings.Builder
}

// line is what it prints.
type line struct {
	Event, ID, Text, From string
	Call                  string
	Answer                json.RawMessage
	Code                  string
	Known                 bool
}

func newPeer(t *testing.T, in *misskeytest.Instance) *peer {
	t.Helper()
	dir, err := filepath.Abs("../../../tools/misskey")
	if err != nil {
		t.Fatal(err)
	}
	node, missing := exec.LookPath("node")
	if missing == nil {
		_, missing = os.Stat(filepath.Join(dir, "node_modules/misskey-js"))
	}
	if missing != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v: «make deps» installs it", missing)
		}
		t.Skipf("%v: «make deps» installs it", missing)
	}
	// It ends with its input; the limit is for what hangs.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	cmd := exec.CommandContext(ctx, node, "drive.mjs")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "ORIGIN=http://" + in.Host(), "TOKEN=" + misskeytest.Token}
	p := &peer{t: t, errs: new(strings.Builder)}
	cmd.Stderr = p.errs
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	p.out.Buffer(nil, 4<<20)
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer cancel()
		_ = p.in.Close() // it may be gone already
		if err := cmd.Wait(); err != nil {
			t.Errorf("the client: %v\n%s", err, p.errs)
		}
	})
	return p
}

// next returns the next line that it prints.
func (p *peer) next() (l line) {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("the client ended: %v", p.out.Err())
	}
	if err := json.Unmarshal(p.out.Bytes(), &l); err != nil {
		p.t.Fatalf("%s: %v", p.out.Bytes(), err)
	}
	return l
}

// call lets it call an endpoint.
func (p *peer) call(path, params string) line {
	p.t.Helper()
	if _, err := io.WriteString(p.in, `{"call":"`+path+`","params":`+params+"}\n"); err != nil {
		p.t.Fatal(err)
	}
	l := p.next()
	if l.Call != path {
		p.t.Fatalf("%s was answered by %+v", path, l)
	}
	return l
}

// The fake is one that the Misskey project's own client takes for an instance.
func TestTheFakeServesMisskeysOwnClient(t *testing.T) {
	in := misskeytest.Start()
	defer func() {
		in.Close()
		for _, fault := range in.Faults() {
			t.Errorf("the instance complains: %s", fault)
		}
	}()
	t.Run("client", func(t *testing.T) { // it ends before the instance does
		ann := in.User("ann", "Ann", false)
		p := newPeer(t, in)
		if l := p.next(); l.Event != "connected" {
			t.Fatalf("%+v", l)
		}
		n := in.Write(ann, misskeytest.Draft{Text: "@familiar hello"})
		if l := p.next(); l.Event != "mention" || l.ID != n.ID || l.Text != "@familiar hello" || l.From != "ann" {
			t.Errorf("%+v", l)
		}
		c := in.Chat(ann, "psst")
		if l := p.next(); l.Event != "newChatMessage" || l.ID != c.ID || l.Text != "psst" || l.From != "ann" {
			t.Errorf("%+v", l)
		}
		var me struct{ ID, Username string }
		if err := json.Unmarshal(p.call("i", "{}").Answer, &me); err != nil || me.ID != in.Me().ID || me.Username != "familiar" {
			t.Errorf("%+v, %v", me, err)
		}
		for _, call := range [][2]string{
			{"notes/create", `{"text":"hi","replyId":"` + n.ID + `","visibility":"home"}`},
			{"notes/show", `{"noteId":"` + n.ID + `"}`}, {"notes/children", `{"noteId":"` + n.ID + `","limit":5}`},
			{"notes/mentions", `{"limit":5}`}, {"users/notes", `{"userId":"` + me.ID + `","withReplies":true}`},
			{"notes/reactions/create", `{"noteId":"` + n.ID + `","reaction":":blobcat:"}`}, {"emojis", "{}"},
			{"chat/messages/create-to-user", `{"toUserId":"` + ann.ID + `","text":"hi"}`}, {"chat/history", `{"limit":5,"room":false}`},
			{"chat/messages/user-timeline", `{"userId":"` + ann.ID + `","limit":5}`}, {"chat/messages/show", `{"messageId":"` + c.ID + `"}`},
		} {
			if l := p.call(call[0], call[1]); l.Code != "" {
				t.Errorf("%s: %+v", call[0], l)
			}
		}
		if l := p.call("notes/show", `{"noteId":"nowhere"}`); l.Code != "NO_SUCH_NOTE" || !l.Known {
			t.Errorf("%+v", l)
		}
	})
}
