package llmtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Script says what is answered: the first rule that matches, else Default; with no Default the answer is status 500.
type Script struct {
	Models  []string // default: stub-1
	APIKey  string   // when set, any other key gets status 401
	Rules   []Rule
	Default *Reply
}

// Rule answers the requests that match.
type Rule struct {
	Name  string
	Times int // how often it answers; 0: without limit
	Match Match
	Reply Reply

	patterns map[string]*regexp.Regexp
}

// Match holds conditions, of which all that are set must hold. Strings are regular expressions, but for the names
// of tools and API.
type Match struct {
	API        string // Chat or Messages
	System     string // over the system text
	LastUser   string // over the newest words of the user
	AnyText    string // over all text
	HasTool    string // a tool of this name is offered
	LacksTool  string // none of this name is
	AfterTool  string // over the name of the tool whose result is the newest message
	ToolResult string // over that result
	NotAfter   bool   // the newest message is no tool's result
	HasImage   bool   // the newest message of the user has a picture
}

// What a client may speak.
const (
	Chat     = "chat"      // OpenAI's chat completions
	Messages = "anthropic" // Anthropic's messages
)

// Reply is an answer.
type Reply struct {
	Thinking  string
	Signature string // the proof of the thinking; in a chat it is Gemini's, of the first call
	Redacted  string // thinking that only the provider can read; not in a chat
	Text      string // {{last_user}}, {{tool_result}}, {{tools}} are filled in
	ToolCalls []ToolCall
	Finish    string // stop (default), length, refusal; tool calls set their own

	Status     int    // an error: 400, 429, 500 …
	Error      string // its words
	Code       string // its kind, as the provider has it: overloaded_error, insufficient_quota …
	RetryAfter string // its header
	FailAfter  int    // the error comes in the stream, after so many chunks; Status is not sent then
	Redirect   string // the answer is a redirect to this address
	Raw        string // sent as it is, with status 200 and the type RawType
	RawType    string

	Usage     Usage           // made up from the lengths when zero
	Hold      <-chan struct{} // no byte is answered before it is closed, or the client is gone
	HoldRest  <-chan struct{} // the same after the first chunk of a stream
	Drop      bool            // the connection is closed without an answer
	CutFirst  bool            // the connection is cut before the first chunk
	CutAfter  int             // the connection is cut after so many chunks
	Garbage   bool            // an unparsable line in the stream
	ChunkSize int             // runes in a chunk (12)
	Comments  bool            // lines that say nothing before each chunk, as proxies send them
	NoDone    bool            // the stream ends without its last event

	Split     bool   // in a stream, the arguments of calls come in pieces; in a chat, those of all calls mixed
	Index     string // in a streamed chat, how calls are numbered: "" as they should, Zero or None
	Reasoning bool   // in a chat, thinking is called reasoning and not reasoning_content
}

// What servers of a chat make of the numbers of calls.
const (
	Zero = "zero" // each has the number 0
	None = "none" // none has a number
)

// ToolCall is a call that the model wants. Arguments are JSON; "" is {}. {{found}} in them is what the first
// parentheses of the rule's AnyText matched: a model that read something can name it.
type ToolCall struct {
	Name, Arguments string
	Wrong           bool // Arguments are no JSON, and meant so
}

// Usage is what an answer cost, in tokens; Cached of Input were read before.
type Usage struct{ Input, Output, Cached int }

// Request is a request as the script sees it.
type Request struct {
	Path       string
	Query      string // what follows the path in the address
	API        string // Chat or Messages
	Rule       string // which rule answered: its name, "default", "auth" or "unknown path"
	Keyed      bool   // a key was sent
	Model      string
	Stream     bool
	System     string
	LastUser   string
	AllText    string
	Tools      []string
	AfterTool  bool
	ToolName   string
	ToolResult string
	Images     int
	Body       json.RawMessage // as it came
}

// compile checks a script and reads its patterns.
func (s *Script) compile() error {
	s.Rules = slices.Clone(s.Rules)
	for i := range s.Rules {
		r := &s.Rules[i]
		if r.Name == "" {
			r.Name = fmt.Sprintf("rule %d", i)
		}
		r.patterns = map[string]*regexp.Regexp{}
		for key, pattern := range map[string]string{"system": r.Match.System, "last": r.Match.LastUser,
			"any": r.Match.AnyText, "after": r.Match.AfterTool, "result": r.Match.ToolResult} {
			if pattern == "" {
				continue
			}
			compiled, err := regexp.Compile(pattern)
			if err != nil {
				return fmt.Errorf("rule %q: %s: %w", r.Name, key, err)
			}
			r.patterns[key] = compiled
		}
		for _, c := range r.Reply.ToolCalls {
			if c.Arguments != "" && !c.Wrong && !json.Valid([]byte(c.Arguments)) {
				return fmt.Errorf("rule %q: the arguments of %s are no JSON", r.Name, c.Name)
			}
		}
	}
	if len(s.Models) == 0 {
		s.Models = []string{"stub-1"}
	}
	return nil
}

func (r *Rule) matches(q Request) bool {
	m := r.Match
	fits := func(key, text string) bool { return r.patterns[key] == nil || r.patterns[key].MatchString(text) }
	return (m.API == "" || m.API == q.API) && fits("system", q.System) && fits("last", q.LastUser) && fits("any", q.AllText) &&
		(m.HasTool == "" || slices.Contains(q.Tools, m.HasTool)) &&
		(m.LacksTool == "" || !slices.Contains(q.Tools, m.LacksTool)) &&
		(m.AfterTool == "" || q.AfterTool && fits("after", q.ToolName)) &&
		(m.ToolResult == "" || q.AfterTool && fits("result", q.ToolResult)) &&
		!(m.NotAfter && q.AfterTool) && !(m.HasImage && q.Images == 0)
}

// filled returns the rule's reply to a request that it matches.
func (r *Rule) filled(q Request) Reply {
	reply := r.Reply
	read := r.patterns["any"]
	if read == nil || read.NumSubexp() == 0 {
		return reply
	}
	quoted, _ := json.Marshal(read.FindStringSubmatch(q.AllText)[1]) // a string is always JSON
	found := string(quoted[1 : len(quoted)-1])
	reply.ToolCalls = slices.Clone(reply.ToolCalls)
	for i := range reply.ToolCalls {
		reply.ToolCalls[i].Arguments = strings.ReplaceAll(reply.ToolCalls[i].Arguments, "{{found}}", found)
	}
	return reply
}

// answer picks the reply and keeps the request.
func (s *Server) answer(q Request, key string) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply, name := Reply{Status: 500, Error: "llmtest: no rule matches"}, "none"
	if s.script.Default != nil {
		reply, name = *s.script.Default, "default"
	}
	for i := range s.script.Rules {
		r := &s.script.Rules[i]
		if (r.Times == 0 || s.used[i] < r.Times) && r.matches(q) {
			s.used[i]++
			reply, name = r.filled(q), r.Name
			break
		}
	}
	if s.script.APIKey != "" && key != s.script.APIKey {
		reply, name = Reply{Status: 401, Error: "llmtest: wrong key"}, "auth"
	}
	reply.Text = strings.NewReplacer("{{last_user}}", q.LastUser, "{{tool_result}}", q.ToolResult,
		"{{tools}}", strings.Join(q.Tools, ",")).Replace(reply.Text)
	if (reply.Usage == Usage{}) {
		reply.Usage = Usage{Input: len(q.AllText)/4 + 1, Output: len(reply.Text)/4 + 1}
	}
	q.Rule, q.Keyed = name, key != ""
	s.requests = append(s.requests, q)
	return reply
}
