package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// The headers of both ways. The signature is the hex HMAC-SHA256 of "<timestamp>.<raw body>", the timestamp in seconds
// since 1970.
const (
	headerTime      = "X-Familiar-Timestamp"
	headerSignature = "X-Familiar-Signature"
	headerKey       = "Idempotency-Key"
)

// drift is how far the clocks of the two sides may be apart, and so how long a request can be sent again as it is.
const drift = 300 * time.Second

// sign returns the signature of a body.
func sign(secret []byte, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(timestamp)) // a hash takes everything
	_, _ = mac.Write([]byte("."))
	_, _ = mac.Write(body)
	return mac.Sum(nil)
}

// claim is what the headers of a request say about its body.
type claim struct {
	timestamp string
	signature []byte
}

// claimOf reads the headers; ok is false when they are missing, malformed or out of time. The body need not be read
// then.
func claimOf(h http.Header, now time.Time) (c claim, ok bool) {
	if len(h.Values(headerTime)) != 1 || len(h.Values(headerSignature)) != 1 {
		return c, false
	}
	c.timestamp = h.Get(headerTime)
	seconds, err := strconv.ParseInt(c.timestamp, 10, 64)
	if err != nil || seconds < 0 || seconds > now.Add(drift).Unix() || seconds < now.Add(-drift).Unix() {
		return c, false
	}
	c.signature, err = hex.DecodeString(h.Get(headerSignature))
	return c, err == nil && len(c.signature) == sha256.Size
}

// holds says whether the body is the one that was signed.
func (c claim) holds(secret, body []byte) bool {
	return hmac.Equal(c.signature, sign(secret, c.timestamp, body))
}

// stampHeaders signs a request of ours.
func stampHeaders(h http.Header, secret, body []byte, now time.Time) {
	timestamp := strconv.FormatInt(now.Unix(), 10)
	h.Set(headerTime, timestamp)
	h.Set(headerSignature, hex.EncodeToString(sign(secret, timestamp, body)))
}
