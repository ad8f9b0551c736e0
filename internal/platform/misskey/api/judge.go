package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"familiar/internal/platform"
)

// waitUnsaid is how long to wait when an instance refuses for the rate and does not say for how long.
const waitUnsaid = 5 * time.Second

// next says what the operator can do about a refusal that trying again does not mend.
var next = map[string]string{
	"CREDENTIAL_REQUIRED":    "the instance takes no token from us; make a new access token and set platforms.misskey.token",
	"AUTHENTICATION_FAILED":  "the access token is not valid any more; make a new one on the instance and set platforms.misskey.token",
	"YOUR_ACCOUNT_SUSPENDED": "the account is suspended; ask the instance's moderators, or use another account",
	"PERMISSION_DENIED":      "the access token lacks a permission; make one with the permissions that docs/misskey.md lists and set platforms.misskey.token",
}

// Revoked reports whether an error says that nothing will ever work with this token.
func Revoked(err error) bool {
	var r refusal
	return errors.As(err, &r) && (r.status == http.StatusUnauthorized || r.code == "AUTHENTICATION_FAILED" || r.code == "YOUR_ACCOUNT_SUSPENDED")
}

// Is reports whether an error is a refusal with one of these codes, such as "NO_SUCH_NOTE".
func Is(err error, codes ...string) bool {
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

// Judge makes the seam's kind of an error of this package; any other error stays as it is, and nil is nil. creates says
// that what was asked for would be there twice if it were asked for twice.
//
// Where nothing will ever work with this token, that is Fatal. Temporary is what surely was not done and may be done
// later, and what may be asked for again whatever became of it. Uncertain is what creates and may have been done. Every
// other refusal is plain, with the operator's next step where there is one. Is and Revoked see through all of them.
func Judge(err error, creates bool) error {
	var r refusal
	var l loss
	switch {
	case err == nil:
		return nil
	case Revoked(err):
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
