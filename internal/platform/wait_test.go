package platform

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "0": 0, "-7": 0, "x": 0,
		"99999999999": 0, "99999999999999999999": 0, "Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second,
		"Fri, 02 Jan 2026 03:04:00 GMT": 0, "Fri, 02 Jan 2026 04:04:05 GMT": time.Hour} {
		if got := RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
	if got := RetryAfter(http.Header{}, now); got != 0 {
		t.Errorf("nothing: %v", got)
	}
}
