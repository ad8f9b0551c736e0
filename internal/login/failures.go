package login

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// failWindow and maxFailures bound how often an address is told what was wrong. The token cannot be guessed
	// at any speed; this keeps guessing from being free, and lets the operator know. Whoever brings the right
	// secret is let in all the same, so that nobody can lock the owner out.
	failWindow  = time.Minute
	maxFailures = 20
	// maxAddresses bounds the memory that strangers can take.
	maxAddresses = 1024
)

// failures counts failed attempts by address. The zero failures is ready; safe for concurrent use.
type failures struct {
	mu    sync.Mutex
	began time.Time
	count map[netip.Addr]int
}

// add counts one failure. tooMany says that the address had its share, justNow that it got there with this one.
func (f *failures) add(from netip.Addr, now time.Time) (tooMany, justNow bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count == nil || now.Sub(f.began) >= failWindow || len(f.count) >= maxAddresses {
		f.began, f.count = now, map[netip.Addr]int{}
	}
	f.count[from]++
	return f.count[from] > maxFailures, f.count[from] == maxFailures+1
}

// from returns the address of the client. A proxy is believed about it only when the operator named it, and only
// about the last address that is not a proxy itself.
func (l *Login) from(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr, _ := netip.ParseAddr(host)
	addr = addr.Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && l.trusts(addr); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = hop.Unmap()
	}
	return addr
}

func (l *Login) trusts(addr netip.Addr) bool {
	for _, p := range l.proxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
