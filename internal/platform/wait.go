package platform

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter is how long a peer asks to be left alone by the header of that name, a number of seconds or a date (RFC 9110
// §10.2.3); 0 when it does not say, or says what cannot be read. It may be long: whoever waits has a bound of their own.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
