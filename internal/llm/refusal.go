package llm

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// refusal is what a provider says instead of an answer. Each puts it in another form; these are the parts.
type refusal struct {
	status  int
	code    string // all words that are for programs: type, code, status
	message string
}

// readRefusal takes the parts out of a body. A body of no known form gives none.
func readRefusal(status int, body []byte) refusal {
	var in struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	got := refusal{status: status}
	var list []json.RawMessage // Gemini puts the object into a list
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	if json.Unmarshal(body, &in) != nil {
		return got
	}
	var inner struct {
		Message, Type, Status string
		Code                  json.RawMessage
	}
	switch {
	case json.Unmarshal(in.Error, &got.message) == nil: // Ollama
	case json.Unmarshal(in.Error, &inner) == nil:
		got.message = inner.Message
		got.code = strings.Join([]string{inner.Type, strings.Trim(string(inner.Code), `"`), inner.Status}, " ")
	default:
		got.message = in.Message
	}
	if got.message == "" && json.Unmarshal(in.Detail, &got.message) != nil {
		got.message = ""
	}
	return got
}

// statusOf is the status that an error within a stream would have had, by its type.
func (r refusal) statusOf() int {
	for _, word := range strings.Fields(r.code) {
		if n, err := strconv.Atoi(word); err == nil && n >= 400 && n < 600 {
			return n
		}
		if n := statuses[word]; n != 0 {
			return n
		}
	}
	return http.StatusInternalServerError
}

var statuses = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "rate_limit_exceeded": 429,
	"insufficient_quota": 429, "api_error": 500, "server_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

// rule says what kind of problem some words mean. The first rule that fits decides.
type rule struct {
	kind     ProblemKind
	statuses []int // any of these; none means any status
	code     string
	message  string // one of these words, separated by |, within the message in small letters
}

var rules = []rule{
	{kind: NoCredit, statuses: []int{402}},
	{kind: NoCredit, code: "insufficient_quota|billing_error|billing_hard_limit_reached|insufficient_credits"},
	{kind: NoCredit, message: "credit balance|insufficient credits|insufficient balance"},
	{kind: Overfull, statuses: []int{413}},
	{kind: Overfull, code: "context_length_exceeded|exceed_context_size_error|request_too_large"},
	{kind: Overfull, statuses: []int{400, 422, 429, 500}, message: "prompt is too long|context length|context window|maximum context|exceed context limit|input token count|available context size|request too large"},
	{kind: BadKey, statuses: []int{401}},
	{kind: BadKey, code: "invalid_api_key|authentication_error|API_KEY_INVALID|UNAUTHENTICATED"},
	{kind: BadKey, message: "api key not valid|api key expired|invalid api key|incorrect api key"},
	{kind: Declined, code: "content_policy_violation|content_filter|moderation_blocked"},
	{kind: Declined, statuses: []int{400, 403, 451}, message: "flagged|moderation|safety system|content policy|usage policies|content management policy"},
	{kind: BadKey, statuses: []int{403}},
	{kind: BadImage, statuses: []int{400, 415, 422}, message: "image"},
	{kind: BadImage, statuses: []int{404}, message: "image input"},
	{kind: NoModel, statuses: []int{404, 405, 410}},
	{kind: NoModel, code: "model_not_found"},
	{kind: NoModel, statuses: []int{400, 422}, message: "valid model|does not support|not supported with this model|model not found|no endpoints found|unknown model"},
}

func (r rule) fits(got refusal) bool {
	if len(r.statuses) > 0 && !has(r.statuses, got.status) {
		return false
	}
	return oneOf(r.code, got.code, strings.Fields) && oneOf(r.message, strings.ToLower(got.message), nil)
}

func has(list []int, n int) bool {
	for _, one := range list {
		if one == n {
			return true
		}
	}
	return false
}

// oneOf looks for one of the words in a text, or among its parts when split is given. No words fit everything.
func oneOf(words, text string, split func(string) []string) bool {
	if words == "" {
		return true
	}
	for word := range strings.SplitSeq(words, "|") {
		if split == nil && strings.Contains(text, word) {
			return true
		}
		if split == nil {
			continue
		}
		for _, part := range split(text) {
			if part == word {
				return true
			}
		}
	}
	return false
}

// kind tells what a refusal means.
func (r refusal) kind() ProblemKind {
	for _, rule := range rules {
		if rule.fits(r) {
			return rule.kind
		}
	}
	switch {
	case r.status == 408, r.status == 409, r.status == 425, r.status == 429, r.status >= 500:
		return Overloaded
	}
	return Rejected
}

// refused makes a Problem of an answer that is none.
func (w *wire) refused(status int, header http.Header, body []byte) Problem {
	got := readRefusal(status, body)
	text := fmt.Sprintf("status %d", status)
	if status >= 300 && status < 400 {
		text += ", a redirect, which is not followed"
	}
	return w.refusal(got, text, delay(header, body, time.Now()))
}

// failed makes a Problem of an error that came within a stream.
func (w *wire) failed(event []byte) Problem {
	got := readRefusal(0, event)
	got.status = got.statusOf()
	return w.refusal(got, fmt.Sprintf("in the stream, as status %d", got.status), delay(nil, event, time.Now()))
}

func (w *wire) refusal(got refusal, text string, after time.Duration) Problem {
	if message := w.clean(got.message); message != "" {
		text += ": " + message
	}
	p := w.c.place.problem(w.c.model, got.kind(), errors.New(text))
	p.After = after
	return p
}

// maxMessage is how much of a provider's own words is kept, in bytes.
const maxMessage = 300

// keyLike is what keys look like, also where a provider masked their middle.
var keyLike = regexp.MustCompile(`\b(?:sk|pk|rk|key)-[A-Za-z0-9_*.…-]{4,}|\bAIza[A-Za-z0-9_*.-]{4,}|(?i)((?:[?&]|\b)(?:api[-_]?)?key=)[^\s&"']+`)

// sameWords is how long, in bytes, a piece of the conversation must be to be noticed in a message.
const sameWords = 16

// clean takes keys and words of the conversation out of what somebody else wrote, and cuts it short.
func (w *wire) clean(text string) string {
	if key := w.c.key.Reveal(); key != "" { // as it is, and in the forms that a request or an answer may give it
		text = strings.NewReplacer(key, "…", url.QueryEscape(key), "…", base64.RawStdEncoding.EncodeToString([]byte(key)), "…").Replace(text)
	}
	text = strings.Join(strings.Fields(keyLike.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "${1}…")), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	said := w.asked.words()
	var kept strings.Builder
	for len(text) > 0 {
		if same := sameBeginning(text, said); same >= sameWords {
			kept.WriteString("…")
			text = text[same:]
			continue
		}
		_, size := utf8.DecodeRuneInString(text)
		kept.WriteString(text[:size])
		text = text[size:]
	}
	return kept.String()
}

// sameBeginning returns how long a beginning of text, of sameWords bytes or more, stands in said.
func sameBeginning(text, said string) int {
	n := 0
	for size := sameWords; size <= len(text) && strings.Contains(said, text[:size]); size++ {
		if size == len(text) || utf8.RuneStart(text[size]) {
			n = size
		}
	}
	return n
}

// words returns everything that a question says, with single blanks between words.
func (q Question) words() string {
	var all strings.Builder
	all.WriteString(q.System)
	for _, m := range q.Messages {
		for _, part := range m.Parts {
			all.WriteByte(' ')
			switch part := part.(type) {
			case Text:
				all.WriteString(string(part))
			case Thinking:
				all.WriteString(part.Text)
			case Call:
				all.Write(part.Input)
			case Result:
				all.WriteString(part.Text)
			case Image:
			}
		}
	}
	return strings.Join(strings.Fields(all.String()), " ")
}

// retryInfo is where Gemini says how long to wait.
var retryInfo = regexp.MustCompile(`"retryDelay"\s*:\s*"([0-9.]{1,10}s)"`)

// delay returns how long a provider asks to wait: 0 when it does not say.
func delay(header http.Header, body []byte, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 && ms < 1e10 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := strings.TrimSpace(header.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 && s < 1e7 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	if m := retryInfo.FindSubmatch(body); m != nil {
		if d, err := time.ParseDuration(string(m[1])); err == nil {
			return d
		}
	}
	return 0
}
