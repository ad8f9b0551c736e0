package login

import (
	"fmt"
	"strings"
	"testing"
)

func TestFailuresAreBounded(t *testing.T) {
	r := newRig(t, func(o *Options) { o.TrustedProxies = []string{"10.0.0.0/8", "::1", "odd"} })
	try := func(from, forwarded string) int {
		h := map[string]string{}
		if forwarded != "" {
			h["X-Forwarded-For"] = forwarded
		}
		return r.require(asked{from: from, bearer: "guess", headers: h}).Code
	}
	for i := range maxFailures {
		// The part that the client wrote itself does not help it.
		if got := try("10.1.1.1:5", fmt.Sprintf("%d.1.1.1, 9.9.9.9, 10.2.2.2", i)); got != 401 {
			t.Fatalf("attempt %d: %d", i, got)
		}
	}
	if got := try("[::1]:7", "9.9.9.9"); got != 429 {
		t.Fatalf("the next one: %d", got)
	}
	for from, forwarded := range map[string]string{"9.9.9.8:1": "9.9.9.9", "10.1.1.1:1": "9.9.9.7", "10.1.1.2:1": "nonsense"} {
		if got := try(from, forwarded); got != 401 {
			t.Errorf("%s for %q: %d", from, forwarded, got)
		}
	}
	if w := r.page(asked{from: "9.9.9.9:1", path: "/?login=guess"}); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("a guessed link: %d", w.Code)
	}
	if n := strings.Count(r.logs.String(), "many failed logins"); n != 1 || strings.Contains(r.logs.String(), "guess") {
		t.Errorf("%d lines: %s", n, &r.logs)
	}
	// The right secret is never held up, and asking without any is no attempt.
	r.want(r.require(asked{from: "9.9.9.9:1", bearer: theToken}), 200, "")
	r.want(r.require(asked{from: "9.9.9.9:1"}), 401, "")
	r.now = r.now.Add(failWindow)
	if got := try("9.9.9.9:1", ""); got != 401 {
		t.Errorf("a minute later: %d", got)
	}
	for i := range 2 * maxAddresses {
		try(fmt.Sprintf("8.%d.%d.1:1", i/256, i%256), "")
	}
	if len(r.failures.count) > maxAddresses {
		t.Fatalf("%d addresses are remembered", len(r.failures.count))
	}
}
