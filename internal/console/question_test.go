package console

import (
	"testing"

	"github.com/chromedp/chromedp"

	"familiar/internal/chat"
	"familiar/internal/console/consoletest"
)

// A question is shown with what would be done and its buttons; it is answered by a click alone, keeps the focus where it
// is, and says how it ended; after a reload too.
func TestAQuestionIsAnsweredByAButton(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Write("clean up\n")
	ev := r.next("clean up")
	turn := chat.TurnID("turn_" + ev.Message)
	r.show(ev, chat.TurnStarted, "")
	r.show(ev, chat.ToolStarted, "fetch")
	const text = "May I use `files: remove`?\n```json\n{\"path\": \"<img src=x onerror=pwned=1>\"}\n```"
	asked := r.do(chat.Ask{Place: ev.Place, Text: text, ReplyTo: ev.Message, Turn: turn, Key: "k",
		Options: []chat.Option{{ID: "b1", Label: "Yes"}, {ID: "b2", Label: "No"}}})
	r.Until(consoletest.Count(".question .answers button", 2))
	r.Want(consoletest.Texts(".question .answers button"), "Yes | No")
	r.Want(consoletest.Texts(".question pre"), `{"path": "<img src=x onerror=pwned=1>"}`)
	r.Want(`document.querySelector("#turn .doing").innerText`, "Waiting for your answer")
	// BUG-E10: what is typed while the question appears goes into the message field, Enter too.
	r.Want(`document.activeElement.id`, "text")
	r.Write("y\n")
	r.next("y")

	r.Steps(chromedp.Reload())
	r.Until(consoletest.Count(".question .answers button:not(:disabled)", 2))
	r.Click(".question .answers button:nth-child(2)")
	got := <-r.heard
	if got.Body != (chat.Pressed{Button: "b2"}) || got.ByProgram {
		t.Errorf("heard %+v", got)
	}
	r.Until(consoletest.Count(".question .answers button:disabled", 2))
	r.do(chat.Edit{Place: ev.Place, Message: asked.Message, Text: text + "\n\nAnswered: no."})
	r.Until(consoletest.Count(".question .answers", 0))
	r.Until(`document.querySelector("#turn .doing").innerText.startsWith("Using")`)
	r.Steps(chromedp.Reload())
	r.Until(consoletest.Count(".question", 1))
	r.Want(consoletest.Texts(".question .words > p:last-child"), "Answered: no.")
	r.Want(`String(document.querySelectorAll(".answers").length) + window.pwned`, "0undefined")
}

// An answer that does not reach the bot can be given again.
func TestAnAnswerThatDoesNotArrive(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Write("clean up\n")
	ev := r.next("clean up")
	r.do(chat.Ask{Place: ev.Place, Text: "May I?", Options: []chat.Option{{ID: "b1", Label: "Yes"}}})
	r.Until(consoletest.Count(".question button:not(:disabled)", 1))
	r.Unanswered(func() {
		r.change(func() { r.hears = chat.Busy })
		r.Click(".question button")
		r.Until(`!document.querySelector(".question .error").hidden`)
		r.Want(consoletest.Texts(".question .error"), "Not sent: the bot is busy now, try again in a moment")
	})
	r.change(func() { r.hears = chat.Accepted })
	r.Click(".question button")
	if got := <-r.heard; got.Body != (chat.Pressed{Button: "b1"}) {
		t.Errorf("heard %+v", got)
	}
}
