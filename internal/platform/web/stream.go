package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// The pace of a stream.
const (
	page      = 256              // lines read from the database at once
	writeTime = 10 * time.Second // how long a client may take to accept what was written
	quiet     = 15 * time.Second // how often an empty line shows that the stream is alive
)

// stream sends the lines of a session from startIndex on, and then each new one as it comes, until the client
// goes, is too slow, or the host closes. An empty line means nothing.
func (w *Web) stream(rw http.ResponseWriter, r *http.Request) {
	session := r.PathValue("session")
	f, leave, err := w.use(r.Context(), session)
	if err != nil {
		refuse(rw, w.broken("find the session", err))
		return
	}
	defer leave()
	from, err := w.start(r, f)
	if err != nil {
		refuse(rw, err)
		return
	}
	h := rw.Header()
	h.Set("Content-Type", "application/x-ndjson; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no")
	out := tap{rw, http.NewResponseController(rw)}
	_ = out.control.SetReadDeadline(time.Time{})                     // the request is read; what the server allowed for that is over
	defer func() { _ = out.control.SetWriteDeadline(time.Time{}) }() // the connection may serve another request
	rw.WriteHeader(http.StatusOK)
	if out.send(nil) == nil {
		w.follow(r, f, from, out)
	}
}

// start returns the index that the stream begins at. Without a startIndex it is the oldest that is kept.
func (w *Web) start(r *http.Request, f *feed) (int64, error) {
	if !f.known() {
		return 0, errUnknown
	}
	_, floor, _, err := w.bounds(r.Context(), f.session)
	if err != nil {
		return 0, w.broken("read the session", err)
	}
	word := r.URL.Query().Get("startIndex")
	if word == "" {
		return floor, nil
	}
	from, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return 0, bad("startIndex must be a whole number, not %q", word)
	}
	if from < 0 {
		end, _ := f.end()
		return max(end+from, floor), nil
	}
	if from < floor {
		return 0, fault{status: http.StatusGone, first: floor,
			say: "the events before index " + strconv.FormatInt(floor, 10) + " are no longer kept"}
	}
	return from, nil
}

// follow writes lines until something ends it. There is nobody to tell why.
func (w *Web) follow(r *http.Request, f *feed, from int64, out tap) {
	beat := time.NewTicker(quiet)
	defer beat.Stop()
	for last := false; !last; {
		end, changed := f.end()
		for from < end {
			lines, err := w.lines(r.Context(), f.session, from, end, page)
			if err != nil || out.send(lines) != nil {
				return
			}
			if len(lines) < page {
				from = end
				break
			}
			from = lines[len(lines)-1].Index + 1
		}
		select {
		case <-changed:
		case <-beat.C:
			if out.blank() != nil {
				return
			}
		case <-r.Context().Done():
			return
		case <-w.deps.Closing:
			now, _ := f.end()
			last = now == end // what was written before the host left is still told
		}
	}
}

// tap writes to one client, with a time limit for each write.
type tap struct {
	rw      http.ResponseWriter
	control *http.ResponseController
}

func (t tap) send(lines []line) error {
	enc := json.NewEncoder(t.rw)
	t.limit()
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return t.control.Flush()
}

func (t tap) blank() error {
	t.limit()
	if _, err := t.rw.Write([]byte("\n")); err != nil {
		return err
	}
	return t.control.Flush()
}

func (t tap) limit() { _ = t.control.SetWriteDeadline(time.Now().Add(writeTime)) }
