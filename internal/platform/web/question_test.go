package web

import (
	"testing"

	"familiar/internal/chat"
)

// A question stands on the stream with its options, once for each key; its end has a line of its own, and a reply to it
// names it.
func TestQuestions(t *testing.T) {
	s := fresh(t)
	session := s.begin("hello")
	ask := chat.Ask{Place: placeOf(session), Text: "May I?", Words: "unseen", Turn: "t1", ReplyTo: "u", Key: "k",
		Options: []chat.Option{{ID: "b1", Label: "Yes"}, {ID: "b2", Label: "No"}}}
	asked := s.do(ask)
	if again := s.do(ask); again.Message != asked.Message {
		t.Errorf("asked twice: %s, %s", asked.Message, again.Message)
	}
	said := s.do(chat.Say{Place: placeOf(session), Text: "one"})
	s.do(chat.Edit{Place: placeOf(session), Message: said.Message, Text: "two"})
	s.do(chat.Edit{Place: placeOf(session), Message: asked.Message, Text: "May I? Yes."})
	id := `"` + string(asked.Message) + `"`
	s.listen(session, "").expect("0 session.started", "1 message.received",
		`2 input.requested {"requestId":`+id+`,"messageId":`+id+`,"text":"May I?","options":[{"optionId":"b1","label":"Yes"},{"optionId":"b2","label":"No"}],"replyTo":"u","turnId":"t1"}`,
		"3 message.completed", `4 message.updated {"text":"two"}`, `5 input.completed {"requestId":`+id+`,"messageId":`+id+`,"text":"May I? Yes."}`)
	s.do(chat.Delete{Place: placeOf(session), Message: asked.Message})
	s.listen(session, "").expect("0 session.started", "1 message.received", `2 input.requested {"text":""}`,
		"3 message.completed", "4 message.updated", `5 input.completed {"text":""}`, "6 message.deleted")
}

// What came with the bearer is a program's, and what came from the page is not.
func TestWhoSentIt(t *testing.T) {
	s := fresh(t)
	session := s.begin("hello")
	s.page = true
	s.want(202, "POST", "/v1/sessions/"+session, `{"message":"hello again"}`)
	heard := s.heard()
	if len(heard) != 2 || !heard[0].ByProgram || heard[1].ByProgram {
		t.Errorf("heard %+v", heard)
	}
}
