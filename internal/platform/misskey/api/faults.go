package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"familiar/internal/platform"
)

// refusal is an answer that is no success.
type refusal struct {
	path    string
	status  int
	code    string // the instance's word for the reason; "" when it did not speak JSON
	message string
	after   time.Duration // how long it asks to wait; 0 when it does not say
	denied  bool          // a refusal for sure, though the status is that of an error
}

func (r refusal) Error() string {
	text := fmt.Sprintf("%s: HTTP %d", r.path, r.status)
	if r.code != "" {
		text += " " + r.code
	}
	if r.message != "" {
		text += ": " + r.message
	}
	return text
}

// loss is an exchange without an answer, or with one that cannot be read. sent says that the request may have arrived.
type loss struct {
	path string
	sent bool
	err  error
}

func (l loss) Error() string { return fmt.Sprintf("%s: %v", l.path, l.err) }
func (l loss) Unwrap() error { return l.err }

// Misread makes the error of an answer that came and is not the one that was asked for: a loss of which the request
// arrived.
func Misread(path, why string) error {
	return loss{path: path, sent: true, err: errors.New(why)}
}

// newRefusal reads an answer of an error. What stands in front of an instance answers in HTML; its title is the message.
func newRefusal(path string, res *http.Response, raw []byte) refusal {
	r := refusal{path: path, status: res.StatusCode, after: platform.RetryAfter(res.Header, time.Now())}
	var said struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Info    Lenient[struct {
				ResetMS Lenient[int64] `json:"resetMs"` // when it may be tried again, in ms since 1970
				Within  Lenient[struct {
					Message string `json:"message"`
				}] `json:"e"` // an error of the instance's own
			}] `json:"info"`
		} `json:"error"`
	}
	switch {
	case json.Unmarshal(raw, &said) == nil && said.Error.Code != "":
		r.code, r.message = glimpse([]byte(said.Error.Code)), glimpse([]byte(said.Error.Message))
		if reset := said.Error.Info.V.ResetMS.V; r.after == 0 && reset > 0 {
			r.after = max(0, time.Until(time.UnixMilli(reset)))
		}
		if why := said.Error.Info.V.Within.V.Message; r.code == "INTERNAL_ERROR" && deniedWithin.MatchString(why) {
			r.code, r.message, r.denied = ChatDenied, glimpse([]byte(why)), true
		}
	case res.StatusCode/100 == 3:
		r.message = "redirects are not followed; set platforms.misskey.host to where it leads"
	default:
		r.message = plain(raw)
	}
	return r
}

// ChatDenied is our code of a refusal of chats that an instance tells as an error of its own: we may have none, or the
// person takes none from us.
const ChatDenied = "CHAT_DENIED"

var deniedWithin = regexp.MustCompile(`^(ROLE_PERMISSION_DENIED$|recipient is cannot chat)`)

var (
	title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	tags  = regexp.MustCompile(`(?s)<[^>]*>`)
)

// plain makes readable text of a page that should have been an answer.
func plain(raw []byte) string {
	raw = raw[:min(len(raw), 64<<10)]
	if found := title.FindSubmatch(raw); found != nil {
		raw = found[1]
	}
	return glimpse(tags.ReplaceAll(raw, []byte(" ")))
}

// glimpse is the beginning of a text that should have been something else, on one line.
func glimpse(raw []byte) string {
	const most = 120
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(raw[:min(len(raw), 4*most)]), "")), " ")
	if short := []rune(text); len(short) > most {
		text = string(short[:most]) + "…"
	}
	return text
}
