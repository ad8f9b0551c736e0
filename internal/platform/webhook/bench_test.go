package webhook

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/inbox"
)

// BenchmarkIntake posts events of many chats at once to the platform with an inbox behind it: each is verified, decoded
// and durable when it is answered. HTTP itself is not part of it.
func BenchmarkIntake(b *testing.B) {
	for _, share := range []int{0, 10, 50} {
		b.Run(fmt.Sprintf("%d%% duplicates", share), func(b *testing.B) { intake(b, share) })
	}
}

func intake(b *testing.B, share int) {
	l := still(b, file(b), config(""))
	box, err := inbox.Open(b.Context(), l.db, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	up, ended := make(chan struct{}), make(chan error, 1)
	hear := func(ctx context.Context, ev chat.Event) chat.Outcome {
		switch fresh, err := box.Accept(ctx, ev); {
		case err != nil:
			return chat.Busy
		case fresh:
			return chat.Accepted
		}
		return chat.Repeat
	}
	go func() { ended <- l.Run(ctx, hear, func() { close(up) }) }()
	<-up
	mux := http.NewServeMux()
	l.Routes(mux)
	const posters = 64
	var next atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	b.ResetTimer()
	for range posters {
		all.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if n%100 < int64(share) {
					n -= 100 // it was sent before, unless it is one of the first
				}
				rw := httptest.NewRecorder()
				mux.ServeHTTP(rw, signed(fmt.Sprintf(`{"chatId":"c%d","userId":"u%d","messageId":"m%s","text":"When is the walk?"}`,
					n%200, n%200, strconv.FormatInt(n, 10)), began))
				if rw.Code != http.StatusAccepted {
					b.Errorf("%d %s", rw.Code, rw.Body)
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "events/s")
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}
