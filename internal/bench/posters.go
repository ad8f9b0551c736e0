package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"familiar/internal/platform/webhook"
)

// post sends all requests and returns how many were answered as new. They are written before the clock starts, and go
// over connections that stay open: the senders are to cost little, for they run beside what is measured.
func (in intake) post(ctx context.Context, address string) (c cost, accepted int64, err error) {
	requests := make([][]byte, in.requests)
	for n := range requests {
		requests[n] = signedRequest(in.numberOf(int64(n)))
	}
	var next, fresh atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, posters)
	before, err := processor()
	if err != nil {
		return c, 0, err
	}
	began := time.Now()
	for i := range posters {
		all.Go(func() {
			errs[i] = over(ctx, address, func(send func([]byte) (bool, error)) error {
				for n := next.Add(1) - 1; n < int64(in.requests); n = next.Add(1) - 1 {
					is, err := send(requests[n])
					if err != nil {
						return fmt.Errorf("request %d: %w", n, err)
					}
					if is {
						fresh.Add(1)
					}
				}
				return nil
			})
		})
	}
	all.Wait()
	c.each = us(time.Since(began)) / float64(in.requests)
	after, err := processor()
	c.processor = us(after-before) / float64(in.requests)
	return c, fresh.Load(), errors.Join(append(errs, err)...)
}

// signedRequest is what goes over the wire for an event.
func signedRequest(n int64) []byte {
	body := fmt.Appendf(nil, `{"chatId":"c%d","userId":"u%d","messageId":"m%d","text":"When is the walk, and where did we leave the tea?"}`, n%chats, n%chats, n)
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(hookSecret))
	_, _ = fmt.Fprintf(mac, "%s.%s", timestamp, body) // a hash takes everything
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bot\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"X-Familiar-Timestamp: %s\r\nX-Familiar-Signature: %x\r\n\r\n%s", webhook.Path, len(body), timestamp, mac.Sum(nil), body)
}

// over opens a connection for what use sends; send says whether an event was answered as a new one.
func over(ctx context.Context, address string, use func(send func([]byte) (bool, error)) error) (err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.SetDeadline(time.Now().Add(4 * patience)); err != nil {
		return err
	}
	lines := bufio.NewReader(conn)
	return use(func(request []byte) (fresh bool, err error) {
		if _, err := conn.Write(request); err != nil {
			return false, err
		}
		res, err := http.ReadResponse(lines, nil)
		if err != nil {
			return false, err
		}
		text, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err == nil && !bytes.Contains(text, []byte(`"accepted":true`)) {
			err = fmt.Errorf("%s %s", res.Status, text)
		}
		return !bytes.Contains(text, []byte(`"duplicate":true`)), err
	})
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// processor is the time that this process has had of the processors.
func processor() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}
