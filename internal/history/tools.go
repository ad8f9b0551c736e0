package history

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/tool"
)

var (
	//go:embed get-message.md
	getMessageDoc string
	//go:embed fetch-context.md
	fetchContextDoc string
)

// fetchLimit bounds what fetch-context gives at once.
const fetchLimit = 100

// Tools returns get-message and fetch-context. last tells the newest reply of a turn, "" when there is none.
func (h *History) Tools(last func(chat.TurnID) chat.MessageID) []tool.Tool {
	return []tool.Tool{
		tool.New(tool.Tool{Name: "get-message", Doc: getMessageDoc, Effect: tool.Reads},
			func(ctx context.Context, t chat.Turn, a messageArgs) (message, error) {
				return h.message(ctx, t, a, last)
			}),
		tool.New(tool.Tool{Name: "fetch-context", Doc: fetchContextDoc, Effect: tool.Reads}, h.fetch),
	}
}

type messageArgs struct {
	MessageID string `json:"messageId,omitempty" jsonschema:"the message to read; your own last reply when left out"`
}

// message is how the skills tell a message.
type message struct {
	MessageID chat.MessageID `json:"messageId"`
	Content   string         `json:"content"`
	UserID    string         `json:"userId"`
	Username  string         `json:"username"`
	Timestamp time.Time      `json:"timestamp"`
	IsBot     bool           `json:"isBot"`
}

func tell(m chat.Message) message {
	return message{m.ID, m.Text, m.From.ID, m.From.Called(), m.At, m.From.Bot}
}

func (h *History) message(ctx context.Context, t chat.Turn, a messageArgs, last func(chat.TurnID) chat.MessageID) (message, error) {
	id := chat.MessageID(a.MessageID)
	if id == "" {
		id = last(t.ID)
	}
	if id == "" {
		return message{}, tool.Bad("messageId: you have not sent anything in this turn; name the message to read")
	}
	m, err := h.Find(ctx, t.Place, id)
	if errors.Is(err, ErrUnknown) {
		return message{}, tool.Bad("messageId: there is no message %q in this place", id)
	}
	lower(t, m)
	return tell(m), err
}

type fetchArgs struct {
	Type  string `json:"type" jsonschema:"recent_messages, search_messages or user_info"`
	Query string `json:"query,omitempty" jsonschema:"what to look for; needed for search_messages"`
	Limit *int   `json:"limit,omitempty" jsonschema:"how many messages at most, 1 to 100; 20 when left out"`
}

// fetched is the answer of fetch-context: Data is a list of messages or a userInfo.
type fetched[D []message | userInfo] struct {
	Type string `json:"type"`
	Data D      `json:"data"`
}

// answer is either kind of fetched.
type answer interface{ fetched() }

func (fetched[D]) fetched() {}

type userInfo struct {
	UserID   string `json:"userId"`
	Username string `json:"username"`
	Platform string `json:"platform"`
	IsDM     bool   `json:"isDm"`
}

func (h *History) fetch(ctx context.Context, t chat.Turn, a fetchArgs) (answer, error) {
	limit := 20
	if a.Limit != nil {
		limit = *a.Limit
	}
	if limit < 1 {
		return nil, tool.Bad("limit: %d is less than 1", limit)
	}
	limit = min(limit, fetchLimit)
	switch a.Type {
	case "recent_messages":
		said, err := h.Before(ctx, t.Place, t.Answers(), limit)
		return messages(t, a.Type, said, err)
	case "search_messages":
		query := strings.TrimSpace(a.Query)
		if query == "" {
			return nil, tool.Bad("query: search_messages needs what to look for")
		}
		said, err := h.Search(ctx, t.Place, query, limit)
		if errors.Is(err, platform.ErrUnsupported) {
			return nil, tool.Bad("type: messages cannot be searched on %s", t.Place.Platform)
		}
		return messages(t, a.Type, said, err)
	case "user_info":
		return fetched[userInfo]{a.Type, userInfo{t.From.ID, t.From.Called(), t.From.Platform, t.Place.Private()}}, nil
	}
	return nil, tool.Bad("type: %q is not one of recent_messages, search_messages, user_info", a.Type)
}

func messages(t chat.Turn, kind string, said []chat.Message, err error) (answer, error) {
	if err != nil {
		return nil, err
	}
	told := make([]message, len(said))
	for i, m := range said {
		lower(t, m)
		told[i] = tell(m)
	}
	return fetched[[]message]{kind, told}, nil
}

// lower makes the turn fall to the trust of words that somebody else said.
func lower(t chat.Turn, m chat.Message) {
	if !m.From.Us && !m.From.Same(t.From) {
		t.Standing.Fall(chat.Public)
	}
}
