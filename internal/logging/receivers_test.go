package logging

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// receivers are real servers of each protocol; each hands on the messages that it read.
var receivers = map[string]func(t *testing.T) (GELF, <-chan []byte){
	"http": func(t *testing.T) (GELF, <-chan []byte) {
		got := make(chan []byte, 100)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.URL.Path != "/gelf" {
				t.Errorf("%s %s %s: %v", r.Method, r.URL, r.Header, err)
			}
			got <- body
			w.WriteHeader(http.StatusAccepted)
		}))
		t.Cleanup(s.Close)
		return GELF{Protocol: "http", Endpoint: s.URL + "/gelf"}, got
	},
	"tcp": func(t *testing.T) (GELF, <-chan []byte) {
		l := listenTCP(t)
		got := make(chan []byte, 100)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				readFrames(conn, got)
			}
		}()
		return GELF{Protocol: "tcp", Endpoint: "tcp://" + l.Addr().String()}, got
	},
	"udp":       func(t *testing.T) (GELF, <-chan []byte) { return datagrams(t, false) },
	"udp, gzip": func(t *testing.T) (GELF, <-chan []byte) { return datagrams(t, true) },
}

func listenTCP(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func readFrames(conn net.Conn, to chan<- []byte) {
	in := bufio.NewReader(conn)
	for {
		frame, err := in.ReadBytes(0)
		if err != nil {
			_ = conn.Close()
			return
		}
		to <- frame[:len(frame)-1]
	}
}

// datagrams puts chunks together again.
func datagrams(t *testing.T, compress bool) (GELF, <-chan []byte) {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	got := make(chan []byte, 100)
	go func() {
		parts := map[string]map[byte][]byte{}
		for buf := make([]byte, 1<<16); ; {
			n, _, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			data := bytes.Clone(buf[:n])
			if n > maxDatagram {
				t.Errorf("a datagram of %d bytes", n)
			}
			if bytes.HasPrefix(data, []byte{0x1e, 0x0f}) {
				if data = join(t, parts, data); data == nil {
					continue
				}
			}
			if compress != bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
				t.Errorf("compressed: want %v", compress)
			} else if compress {
				data = unzip(t, data)
			}
			got <- data
		}
	}()
	return GELF{Protocol: "udp", Endpoint: conn.LocalAddr().String(), Compress: compress}, got
}

// join adds a chunk and returns the message once it is whole.
func join(t *testing.T, parts map[string]map[byte][]byte, data []byte) []byte {
	id, number, count := string(data[2:10]), data[10], data[11]
	if number >= count || count > 128 || count < 2 {
		t.Errorf("chunk %d of %d", number, count)
	}
	if parts[id] == nil {
		parts[id] = map[byte][]byte{}
	}
	parts[id][number] = data[12:]
	if len(parts[id]) < int(count) {
		return nil
	}
	var whole []byte
	for i := range count {
		whole = append(whole, parts[id][i]...)
	}
	return whole
}

func unzip(t *testing.T, data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Error(err)
		return nil
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Error(err)
	}
	return plain
}
