package program

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"familiar/internal/console/consoletest"
	"familiar/internal/llm/llmtest"
)

// shelf is somebody's MCP server: what tidy does nobody says, and list says that it only reads.
func shelf(t *testing.T, tidied *atomic.Int64) string {
	t.Helper()
	type args struct {
		What string `json:"what"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "shelf", Version: "1"}, nil)
	answer := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	mcp.AddTool(s, &mcp.Tool{Name: "tidy", Description: "Tidies."}, func(_ context.Context, _ *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
		tidied.Add(1)
		return answer("tidied " + a.What), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "list", Description: "Lists.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest, args) (*mcp.CallToolResult, any, error) {
			return answer("books"), nil, nil
		})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() {
		for left := range s.Sessions() { // of a bot that was killed
			_ = left.Close()
		}
		web.Close()
	})
	return web.URL
}

// asksFirst is a bot with the built-in agent on a scripted model, whose tool is somebody else's.
func asksFirst(t *testing.T, tidied *atomic.Int64) *bot {
	t.Helper()
	calls := func(name, arguments string) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: name, Arguments: arguments}}}
	}
	model := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{
		{Match: llmtest.Match{NotAfter: true}, Reply: calls("shelf_list", `{"what":"all"}`)},
		{Match: llmtest.Match{AfterTool: "shelf_list"}, Reply: calls("shelf_tidy", `{"what":"books"}`)},
		{Match: llmtest.Match{AfterTool: "shelf_tidy", ToolResult: "tidied"}, Reply: calls("send-reply", `{"message":"All tidy."}`)},
		{Match: llmtest.Match{AfterTool: "shelf_tidy"}, Reply: calls("send-reply", `{"message":"Left as it is."}`)},
		{Match: llmtest.Match{AfterTool: "send-reply"}, Reply: llmtest.Reply{Text: "done"}},
	}})
	return newBot(t, fmt.Sprintf(`
version: 1
bot: {name: Mochi}
audit: {enabled: true, includedPhases: []}
agent:
  kind: builtin
  mcpServers: [{name: shelf, transport: http, url: %q}]
llm: {provider: compatible, baseUrl: %q, model: stub-1}
`, shelf(t, tidied), model.URL()))
}

// The owner is asked on the page before a tool of unknown effect runs, reads what would be handed to it, and says yes or
// no there. The bearer cannot say it for them.
func TestPageApproval(t *testing.T) {
	tidied := new(atomic.Int64)
	b := asksFirst(t, tidied)
	b.start()
	p := browse(t, b)
	p.logIn()
	p.Write("tidy the books\n")
	p.Until(consoletest.Count(".answers button:not(:disabled)", 2))
	p.Want(consoletest.Texts(".answers button"), "Yes | No") // what list brought was foreign: nothing is kept for the day
	p.Want(consoletest.Texts(".question code:not(pre code)"), "shelf: tidy")
	p.Want(consoletest.Texts(".question pre"), "{\n  \"what\": \"books\"\n}")
	p.Want(`document.querySelector("#turn .doing").innerText`, "Waiting for your answer")

	session := p.Eval(`location.hash.slice(1)`)
	asked := b.question(session)
	answer := func(option string) string {
		return fmt.Sprintf(`{"answers":[{"requestId":%q,"optionId":%q}]}`, asked.request, option)
	}
	for _, body := range []string{answer(asked.options[0]), fmt.Sprintf(`{"message":%q}`, "/yes "+asked.id)} {
		b.ask(t.Context(), http.MethodPost, "/v1/sessions/"+session, body, http.StatusForbidden).Body.Close()
	}
	// BUG-E10: words that begin like an answer are none, and neither is the word of a program. Both wait in line.
	b.ask(t.Context(), http.MethodPost, "/v1/sessions/"+session, `{"message":"yes"}`, http.StatusAccepted).Body.Close()
	p.Write("yes, and what about tea?\n")
	p.Until(consoletest.Count(".mine:not(.pending)", 3))
	p.Until(`document.querySelector("#log").innerText.includes("Ahead of this one: 2.")`)
	p.Want(`String(document.querySelectorAll(".answers button").length)`, "2")
	if n := tidied.Load(); n != 0 {
		t.Fatalf("it ran %d times before anybody answered", n)
	}
	p.Click(".answers button")
	p.Until(`document.querySelector(".question .words > p:last-child")?.innerText === "Answered: yes."`)
	p.Until(consoletest.Texts(".theirs:not(.question) .words") + `.includes("All tidy.")`)
	if n := tidied.Load(); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	if audit := b.audit(); !strings.Contains(audit, "asked_allowed") || !strings.Contains(audit, "read_only_tool") {
		t.Errorf("the audit:\n%s", audit)
	}
}

// BUG-E07: yes and no come from two devices at the same time. One of them counts, and the other is told.
func TestPageTwoAnswersAtOnce(t *testing.T) {
	tidied := new(atomic.Int64)
	b := asksFirst(t, tidied)
	b.start()
	p := browse(t, b)
	p.logIn()
	p.Write("tidy the books\n")
	p.Until(consoletest.Count(".answers button:not(:disabled)", 2))
	session := p.Eval(`location.hash.slice(1)`)
	asked := b.question(session)
	press := func(option string) string {
		return fmt.Sprintf(`fetch("/v1/sessions/%s", {method: "POST", headers: {"Content-Type": "application/json"},
			body: JSON.stringify({answers: [{requestId: %q, optionId: %q}]})}).then((r) => r.status)`, session, asked.request, option)
	}
	p.Steps(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`Promise.all([%s, %s]).then((all) => { window.answered = all.join(); }); 0`,
		press(asked.options[0]), press(asked.options[1]))))
	p.Until(`window.answered === "202,202"`)
	const replied, toldTexts = `.theirs:not(.question) .words`, "That question is closed already. Answered: "
	p.Until(consoletest.Count(replied, 2)) // the reply of the turn, and the word to whoever was late
	ended := p.Eval(`document.querySelector(".question .words > p:last-child").innerText`)
	said := p.Eval(consoletest.Texts(replied))
	won, ran := strings.TrimPrefix(ended, "Answered: "), tidied.Load()
	if strings.Count(said, toldTexts+won) != 1 || won == "yes." != (ran == 1) || strings.Contains(said, "All tidy.") != (ran == 1) {
		t.Errorf("%s; it ran %d times; said %s", ended, ran, said)
	}
}

// asked is a question on a stream.
type asked struct {
	request string
	id      string // by which /yes knows it
	options []string
}

// question returns the first question of a session.
func (b *bot) question(session string) asked {
	b.t.Helper()
	events := b.follow(session, func(all []event) bool { return all[len(all)-1].Type == "input.requested" })
	last := events[len(events)-1].Data
	q := asked{request: last.Request, id: "nothing"}
	for _, o := range last.Options {
		q.options = append(q.options, o.ID)
	}
	return q
}

// Whoever waits in a shell is told that the bot waits for them, and where they can answer.
func TestSayTellsOfAQuestion(t *testing.T) {
	b := asksFirst(t, new(atomic.Int64))
	b.start()
	said := b.command("say", "--dir", b.dir, "--timeout", "60s", "tidy the books")
	var out, errs buffer
	said.Stdout, said.Stderr = &out, &errs
	if err := said.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, "the question is told", func() bool { return strings.Contains(errs.String(), "familiar open opens it") })
	p := browse(t, b)
	p.logIn()
	p.Click("nav li a")
	p.Until(consoletest.Count(".answers button:not(:disabled)", 2))
	p.Click(".answers button:nth-child(2)")
	if err := said.Wait(); err != nil || strings.TrimSpace(out.String()) != "Left as it is." || !strings.Contains(errs.String(), `"what": "books"`) {
		t.Errorf("%v: %q, %q", err, out.String(), errs.String())
	}
}

// The chat in a terminal shows the question and how it ended, and cannot answer it.
func TestChatShowsAQuestion(t *testing.T) {
	b := asksFirst(t, new(atomic.Int64))
	b.start()
	s := b.sit()
	s.sees("Ctrl-D leaves")
	s.types("tidy the books\r")
	s.sees("May I use", "shelf: tidy", `"what": "books"`, "Answer it on the page")
	s.types("/stop\r")
	s.sees("No longer asked: nothing was done.")
	s.types("/yes x\r")
	s.sees("Not sent")
	s.types("\x15\x04") // what was not sent stands in the line again
	s.leaves()
}
