package logging

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// address is where messages go: an address of the web for http, host:port for tcp and udp, with or without its
// scheme.
func (g GELF) address() (string, error) {
	if g.Protocol == "http" {
		u, err := url.Parse(g.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "", errors.New("is not an address as in http://logs.example.org:12201/gelf")
		}
		return g.Endpoint, nil
	}
	address := strings.TrimPrefix(g.Endpoint, g.Protocol+"://")
	if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
		return "", errors.New("is not host and port as in logs.example.org:12201")
	}
	return address, nil
}

func (g GELF) wire() (wire, error) {
	address, err := g.address()
	if err != nil {
		return nil, err
	}
	switch g.Protocol {
	case "tcp":
		return &tcpWire{address: address}, nil
	case "udp":
		return &udpWire{address: address, compress: g.Compress}, nil
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return httpWire{address, client}, nil
}

// httpWire posts each message.
type httpWire struct {
	address string
	client  *http.Client
}

func (w httpWire) send(ctx context.Context, message []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address, bytes.NewReader(message))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("the server answered %s", resp.Status)
	}
	return errors.Join(err, resp.Body.Close())
}

func (w httpWire) close() { w.client.CloseIdleConnections() }

// tcpWire writes messages that end with a zero byte to a connection that is made when it is needed. JSON has no
// zero byte of its own.
type tcpWire struct {
	address string
	conn    net.Conn
}

func (w *tcpWire) send(ctx context.Context, message []byte) error {
	if w.conn != nil && w.over() {
		w.close()
	}
	kept := w.conn != nil
	err := w.try(ctx, message)
	if err != nil && kept {
		err = w.try(ctx, message) // the server had gone in between
	}
	return err
}

func (w *tcpWire) try(ctx context.Context, message []byte) error {
	if w.conn == nil {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", w.address)
		if err != nil {
			return err
		}
		w.conn = conn
	}
	err := deadline(ctx, w.conn)
	if err == nil {
		_, err = w.conn.Write(append(message, 0))
	}
	if err != nil {
		w.close()
	}
	return err
}

// over reports whether the server has closed the connection: a first write would still seem to succeed.
func (w *tcpWire) over() bool {
	_ = w.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := w.conn.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func (w *tcpWire) close() {
	if w.conn != nil {
		_ = w.conn.Close() // there is nothing more to send
		w.conn = nil
	}
}

// The form of datagrams. A bigger message is cut into chunks, each with a head: two bytes of magic, the message's
// id, the chunk's number and how many there are.
const (
	maxDatagram = 8192
	chunkHead   = 12
	maxChunks   = 128
)

// udpWire sends datagrams.
type udpWire struct {
	address  string
	compress bool
	conn     net.Conn
}

func (w *udpWire) send(ctx context.Context, message []byte) error {
	if w.conn == nil {
		conn, err := new(net.Dialer).DialContext(ctx, "udp", w.address)
		if err != nil {
			return err
		}
		w.conn = conn
	}
	if w.compress {
		message = zipped(message)
	}
	if err := deadline(ctx, w.conn); err != nil {
		return err
	}
	parts, err := chunks(message)
	for _, part := range parts {
		if err == nil {
			_, err = w.conn.Write(part)
		}
	}
	if err != nil {
		w.close() // the name may lead to another address by now
	}
	return err
}

func (w *udpWire) close() {
	if w.conn != nil {
		_ = w.conn.Close() // there is nothing more to send
		w.conn = nil
	}
}

func zipped(message []byte) []byte {
	var to bytes.Buffer
	z := gzip.NewWriter(&to)
	_, _ = z.Write(message) // a buffer takes everything
	_ = z.Close()
	return to.Bytes()
}

// chunks cuts a message into datagrams.
func chunks(message []byte) ([][]byte, error) {
	if len(message) <= maxDatagram {
		return [][]byte{message}, nil
	}
	const room = maxDatagram - chunkHead
	count := (len(message) + room - 1) / room
	if count > maxChunks {
		return nil, fmt.Errorf("a message of %d bytes is too long for datagrams", len(message))
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	parts := make([][]byte, 0, count)
	for i := range count {
		part := append([]byte{0x1e, 0x0f}, id[:]...)
		part = append(part, byte(i), byte(count))
		parts = append(parts, append(part, message[i*room:min((i+1)*room, len(message))]...))
	}
	return parts, nil
}

// deadline bounds the next write by the end of ctx.
func deadline(ctx context.Context, conn net.Conn) error {
	end, _ := ctx.Deadline()
	return conn.SetWriteDeadline(end)
}
