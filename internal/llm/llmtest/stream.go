package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// events writes a streamed answer, with the script's cuts.
type events struct {
	gone   <-chan struct{}
	w      http.ResponseWriter
	model  string
	reply  Reply
	chunks int
	failed bool // the error of the reply was sent, and nothing comes after it
}

func newEvents(gone <-chan struct{}, w http.ResponseWriter, model string, r Reply) *events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	if r.CutFirst {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // the client is gone
		panic(http.ErrAbortHandler)
	}
	return &events{gone: gone, w: w, model: model, reply: r}
}

func stream(gone <-chan struct{}, w http.ResponseWriter, model string, r Reply) {
	e := newEvents(gone, w, model, r)
	e.send(answer{Role: "assistant", Content: new("")}, nil)
	for _, piece := range pieces(r.Thinking, r.ChunkSize) {
		e.chunk(r.thought(piece))
	}
	for _, piece := range pieces(r.Text, r.ChunkSize) {
		e.chunk(answer{Content: &piece})
	}
	for _, call := range r.deltas() {
		e.chunk(answer{Calls: []toolCall{call}})
	}
	if e.failed {
		return
	}
	e.send(answer{}, r.finish())
	e.event(completion{Choices: []choice{}, Usage: r.usage()})
	if !r.NoDone {
		e.raw("data: [DONE]\n\n")
	}
}

// deltas returns the calls as a stream sends them.
func (r Reply) deltas() []toolCall {
	calls := r.calls()
	if !r.Split {
		return calls
	}
	var begun, rest []toolCall
	for more := true; more; {
		more = false
		for i := range calls {
			if begun == nil || len(begun) < len(calls) {
				head := calls[i]
				head.Function.Arguments = ""
				begun = append(begun, head)
				more = true
				continue
			}
			cut := pieces(calls[i].Function.Arguments, r.ChunkSize)
			if len(cut) == 0 {
				continue
			}
			piece := toolCall{Index: calls[i].Index}
			piece.Function.Arguments = cut[0]
			rest, more = append(rest, piece), true
			calls[i].Function.Arguments = calls[i].Function.Arguments[len(cut[0]):]
		}
	}
	return append(begun, rest...)
}

// chunk sends a piece of output, as around says.
func (e *events) chunk(a answer) { e.around(func() { e.send(a, nil) }) }

// around sends a piece of output. Where the script says so, garbage or an error comes instead, or the connection is
// cut in mid-stream.
func (e *events) around(send func()) {
	if e.failed {
		return
	}
	if e.reply.FailAfter > 0 && e.chunks >= e.reply.FailAfter {
		e.failed = true
		e.fail()
		return
	}
	if e.reply.Comments {
		e.raw(": nothing yet\n\n")
	}
	if e.reply.Garbage && e.chunks == 1 {
		e.raw("data: {not json\n\n")
	}
	send()
	e.chunks++
	if e.reply.HoldRest != nil && e.chunks == 1 {
		select {
		case <-e.reply.HoldRest:
		case <-e.gone:
			panic(http.ErrAbortHandler)
		}
	}
	if e.reply.CutAfter > 0 && e.chunks >= e.reply.CutAfter {
		panic(http.ErrAbortHandler)
	}
}

// fail sends the error of the reply within the stream.
func (e *events) fail() {
	body, err := json.Marshal(failure(e.reply))
	if err != nil {
		panic(err)
	}
	e.raw("event: error\ndata: " + string(body) + "\n\n")
}

func (e *events) send(a answer, finish *string) {
	e.event(completion{Choices: []choice{{Delta: &a, Finish: finish}}})
}

func (e *events) event(c completion) {
	c.ID, c.Object, c.Created, c.Model = "chatcmpl-stub", "chat.completion.chunk", 1, e.model
	data, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	e.raw("data: " + string(data) + "\n\n")
}

func (e *events) raw(s string) {
	fmt.Fprint(e.w, s)
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

// pieces cuts s into chunks of n runes.
func pieces(s string, n int) []string {
	if n <= 0 {
		n = 12
	}
	var cut []string
	for r := []rune(s); len(r) > 0; {
		k := min(n, len(r))
		cut, r = append(cut, string(r[:k])), r[k:]
	}
	return cut
}
