package misskey

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
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

// newRefusal reads an answer of an error. What stands in front of an instance answers in HTML; its title is the message.
func newRefusal(path string, res *http.Response, raw []byte) refusal {
	r := refusal{path: path, status: res.StatusCode, after: retryAfter(res.Header.Get("Retry-After"), time.Now())}
	var said struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Info    lenient[struct {
				ResetMS lenient[int64] `json:"resetMs"` // when it may be tried again, in ms since 1970
				Within  lenient[struct {
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
			r.code, r.message, r.denied = noChat, why, true
		}
	case res.StatusCode/100 == 3:
		r.message = "redirects are not followed; set platforms.misskey.host to where it leads"
	default:
		r.message = plain(raw)
	}
	return r
}

// noChat is our word for a refusal of chats that an instance tells as an error of its own: we may have none, or the
// person takes none from us.
const noChat = "CHAT_DENIED"

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

// retryAfter reads the header in both of its forms; 0 when it says nothing.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// waitUnsaid is how long to wait when an instance refuses for the rate and does not say for how long.
const waitUnsaid = 5 * time.Second

// next says what the operator can do about a refusal that trying again does not mend.
var next = map[string]string{
	"CREDENTIAL_REQUIRED":    "the instance takes no token from us; make a new access token and set platforms.misskey.token",
	"AUTHENTICATION_FAILED":  "the access token is not valid any more; make a new one on the instance and set platforms.misskey.token",
	"YOUR_ACCOUNT_SUSPENDED": "the account is suspended; ask the instance's moderators, or use another account",
	"PERMISSION_DENIED":      "the access token lacks a permission; make one with the permissions that docs/misskey.md lists and set platforms.misskey.token",
}

// revoked reports whether nothing will ever work with this token.
func revoked(err error) bool {
	var r refusal
	return errors.As(err, &r) && (r.status == http.StatusUnauthorized || r.code == "AUTHENTICATION_FAILED" || r.code == "YOUR_ACCOUNT_SUSPENDED")
}

// temporary reports whether an error that was judged may pass.
func temporary(err error) bool {
	var later platform.Temporary
	return errors.As(err, &later)
}

// is reports whether an error is a refusal with one of these codes.
func is(err error, codes ...string) bool {
	var r refusal
	if !errors.As(err, &r) {
		return false
	}
	for _, code := range codes {
		if r.code == code {
			return true
		}
	}
	return false
}

// judge makes the seam's kind of an error. creates says that what was asked for would be there twice if it were asked
// for twice.
func judge(err error, creates bool) error {
	var r refusal
	var l loss
	switch {
	case err == nil:
		return nil
	case revoked(err):
		return platform.Fatal{Err: advised(err)}
	case errors.As(err, &l) && !l.sent:
		return platform.Temporary{Err: err}
	case errors.As(err, &l):
		return unsure(err, creates)
	case !errors.As(err, &r):
		return err
	}
	switch {
	case r.status == http.StatusTooManyRequests || r.code == "RATE_LIMIT_EXCEEDED":
		return platform.Temporary{Err: err, After: cmp.Or(r.after, waitUnsaid)}
	case r.status == http.StatusBadGateway || r.status == http.StatusServiceUnavailable:
		return platform.Temporary{Err: err, After: r.after}
	case r.status >= http.StatusInternalServerError && !r.denied:
		return unsure(err, creates)
	}
	return advised(err)
}

func unsure(err error, creates bool) error {
	if creates {
		return platform.Uncertain{Err: err}
	}
	return platform.Temporary{Err: err}
}

// advised adds the next step to an error, where there is one.
func advised(err error) error {
	var r refusal
	if errors.As(err, &r) {
		if r.status == http.StatusUnauthorized {
			r.code = cmp.Or(r.code, "CREDENTIAL_REQUIRED")
		}
		if step := next[r.code]; step != "" {
			return fmt.Errorf("%w: %s", err, step)
		}
	}
	return err
}
