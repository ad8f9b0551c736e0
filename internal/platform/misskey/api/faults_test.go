package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"familiar/internal/platform"
)

const badGateway = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

// What an error means to the seam hangs on whether what was asked for may have been done, and may be there twice.
func TestJudge(t *testing.T) {
	const plain, later, unsure, fatal = "plain", "later", "unsure", "fatal"
	kind := func(err error) string {
		var f platform.Fatal
		var l platform.Temporary
		var u platform.Uncertain
		switch {
		case errors.As(err, &f):
			return fatal
		case errors.As(err, &l):
			return later
		case errors.As(err, &u):
			return unsure
		}
		return plain
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		err            error
		reads, creates string
	}{
		{loss{err: broken}, later, later},
		{loss{err: broken, sent: true}, later, unsure},
		{Misread("p", "odd"), later, unsure},
		{refusal{status: 500}, later, unsure},
		{refusal{status: 500, denied: true}, plain, plain},
		{refusal{status: 502}, later, later},
		{refusal{status: 429}, later, later},
		{refusal{status: 400, code: "NO_SUCH_NOTE"}, plain, plain},
		{refusal{status: 403, code: "PERMISSION_DENIED"}, plain, plain},
		{refusal{status: 401}, fatal, fatal},
		{broken, plain, plain},
	} {
		wrapped := fmt.Errorf("ask: %w", c.err)
		if got := kind(Judge(wrapped, false)); got != c.reads {
			t.Errorf("%v, of what can be repeated: %s, want %s", c.err, got, c.reads)
		}
		judged := Judge(wrapped, true)
		if got := kind(judged); got != c.creates || !errors.Is(judged, c.err) {
			t.Errorf("%v, of what creates: %s, want %s", c.err, got, c.creates)
		}
	}
	if err := Judge(nil, true); err != nil {
		t.Error(err)
	}
}

func TestWhatIsLenient(t *testing.T) {
	var v struct{ A, B, C, D Lenient[int] }
	if err := json.Unmarshal([]byte(`{"A":5,"B":null,"C":"5"}`), &v); err != nil || v.A.V != 5 || v.B.V != 0 || v.C.V != 0 || v.D.V != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestIDs(t *testing.T) {
	for text, want := range map[string]bool{"9abc": true, "A_-9": true, "": false, "a/b": false, "a b": false, "é": false, "a\n": false,
		strings.Repeat("x", 64): true, strings.Repeat("x", 65): false} {
		if IsID(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestTheResetOfALimitIsRead(t *testing.T) {
	body := `{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"m","id":"i","info":{"resetMs":` + ms(time.Now().Add(30*time.Second)) + `}}}`
	r := newRefusal("notes/create", &http.Response{StatusCode: 429}, []byte(body))
	if r.after < 20*time.Second || r.after > 31*time.Second {
		t.Errorf("%v", r.after)
	}
}

func ms(at time.Time) string { return strconv.FormatInt(at.UnixMilli(), 10) }

func FuzzRefusal(f *testing.F) {
	for _, text := range []string{badGateway, `{"error":{"code":"X","message":"y","info":5}}`, `{"error":null}`, "<title>", "\xff\xfe", "",
		`{"error":{"code":"INTERNAL_ERROR","info":{"e":{"message":"recipient is cannot chat\n` + strings.Repeat("x", 2000) + `"}}}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text := newRefusal("p", &http.Response{StatusCode: 502}, raw).Error()
		if len(text) > 2000 || strings.ContainsAny(text, "\r\n") {
			t.Errorf("%q", text)
		}
	})
}
