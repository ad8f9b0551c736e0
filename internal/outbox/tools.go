package outbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

var (
	//go:embed send-reply.md
	sendReplyDoc string
	//go:embed edit-reply.md
	editReplyDoc string
	//go:embed react-message.md
	reactMessageDoc string
	//go:embed next-action.txt
	nextAction string
)

// How often an agent may try before it counts as looping (air-friends spec §5.3).
const (
	replyAttempts = 3
	editAttempts  = 2
)

// Tools returns send-reply, edit-reply and react-message.
func (o *Outbox) Tools() []tool.Tool {
	return []tool.Tool{
		tool.New(tool.Tool{Name: "send-reply", Doc: sendReplyDoc, Effect: tool.Speaks, Attempts: replyAttempts}, o.sendReply),
		tool.New(tool.Tool{Name: "edit-reply", Doc: editReplyDoc, Effect: tool.Speaks, Attempts: editAttempts}, o.editReply),
		tool.New(tool.Tool{Name: "react-message", Doc: reactMessageDoc, Effect: tool.Speaks}, o.reactMessage),
	}
}

type replyArgs struct {
	Message     string            `json:"message" jsonschema:"the whole reply, in Markdown"`
	Attachments []json.RawMessage `json:"attachments,omitempty" jsonschema:"not used"`
}

// replied is the answer of send-reply and edit-reply.
type replied struct {
	MessageID  chat.MessageID `json:"messageId"`
	Timestamp  time.Time      `json:"timestamp"`
	NextAction string         `json:"nextAction"`
	Warning    string         `json:"warning,omitempty"`
}

func (o *Outbox) sendReply(ctx context.Context, t chat.Turn, a replyArgs) (replied, error) {
	text := clean(a.Message)
	if blank(text) {
		return replied{}, tool.Bad("message: it is blank; say something or do not call send-reply")
	}
	receipt, err := o.Do(ctx, t, chat.Say{Place: t.Place, Text: text, ReplyTo: o.anchor(t)})
	if err != nil {
		return replied{}, o.explain(t, err)
	}
	answer := replied{receipt.Message, receipt.At, strings.TrimSpace(nextAction), ""}
	switch {
	case receipt.Message == "":
		answer.Warning = "the network cannot be reached just now; your reply goes out by itself when it can, and cannot be edited"
	case len(a.Attachments) > 0:
		answer.Warning = "attachments are ignored"
	}
	return answer, nil
}

type editArgs struct {
	MessageID string `json:"messageId" jsonschema:"the messageId that send-reply gave you"`
	Message   string `json:"message" jsonschema:"the whole new text, in Markdown"`
}

func (o *Outbox) editReply(ctx context.Context, t chat.Turn, a editArgs) (replied, error) {
	var was tally
	o.count(t, func(c *tally) { was = *c })
	text := clean(a.Message)
	switch {
	case was.reply == "":
		return replied{}, tool.Bad("messageId: there is no reply in this turn to edit; use send-reply first")
	case chat.MessageID(a.MessageID) != was.reply:
		return replied{}, tool.Bad("messageId: %q is not your reply of this turn; that is %q", a.MessageID, was.reply)
	case blank(text):
		return replied{}, tool.Bad("message: it is blank")
	case text == was.text:
		return replied{}, tool.Bad("message: it is the text that was sent already")
	case was.parts > 1:
		return replied{}, tool.Bad("messageId: the reply was so long that it went out as %d messages; it cannot be edited", was.parts)
	}
	receipt, err := o.Do(ctx, t, chat.Edit{Place: t.Place, Message: was.reply, Text: text, ReplyTo: was.anchor})
	if err != nil {
		return replied{}, o.explain(t, err)
	}
	return replied{receipt.Message, receipt.At, strings.TrimSpace(nextAction), ""}, nil
}

// longestEmoji bounds a reaction, in code points: the name and number of a custom emoji fit, a message does not.
const longestEmoji = 100

type reactArgs struct {
	Emoji string `json:"emoji" jsonschema:"a Unicode emoji, or a custom one in the form that the list of emojis gives for reactions"`
}

// reacted is the answer of react-message.
type reacted struct {
	Emoji     string         `json:"emoji"`
	MessageID chat.MessageID `json:"messageId"`
	Timestamp time.Time      `json:"timestamp"`
}

func (o *Outbox) reactMessage(ctx context.Context, t chat.Turn, a reactArgs) (reacted, error) {
	emoji := strings.TrimSpace(a.Emoji)
	if emoji == "" {
		return reacted{}, tool.Bad("emoji: it is blank")
	}
	text := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	if utf8.RuneCountInString(emoji) > longestEmoji || strings.ContainsFunc(emoji, text) || o.deps.Vault.Mask(emoji) != emoji {
		return reacted{}, tool.Bad("emoji: that is not one emoji; words belong into send-reply")
	}
	if t.Answers() == "" {
		return reacted{}, tool.Bad("there is no message to react to: nobody wrote one in this session")
	}
	receipt, err := o.Do(ctx, t, chat.React{Place: t.Place, Message: t.Answers(), Emoji: emoji})
	if err != nil {
		return reacted{}, o.explain(t, err)
	}
	return reacted{emoji, t.Answers(), receipt.At}, nil
}

// explain turns what the network or the disk said into words for an agent; what it cannot use stays out.
func (o *Outbox) explain(t chat.Turn, err error) error {
	var fault tool.Fault
	if errors.As(err, &fault) {
		return err
	}
	partly := false
	o.count(t, func(c *tally) { partly = c.parts > 0 && c.reply == "" })
	say := "the network did not take it; you may try once more"
	switch {
	case partly:
		say = "only the first part of your reply went out; it cannot be sent again. Stop here"
	case uncertain(err):
		say = "nobody can tell whether the network took it; it will not be sent again. Stop here"
	}
	return errors.Join(tool.Fault{Status: 400, Say: say}, err)
}
