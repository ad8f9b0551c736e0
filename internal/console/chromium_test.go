package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"familiar/internal/chat"
)

func TestAConversation(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.want(`document.querySelector("#empty h2").innerText`, "This is Mochi.")
	r.want(`document.querySelector(".goes").innerText`, "What you write here goes to OpenCode · anthropic/claude-sonnet-4-5.")
	r.want(`String(document.querySelector("#banner").hidden)`, "true")

	r.write("hello there\n")
	ev := r.next("hello there")
	r.until(count(".mine:not(.pending)", 1))
	r.want(texts(".day"), "Today")
	r.show(ev, chat.TurnStarted, "")
	r.until(`document.querySelector("#turn .doing").innerText === "Thinking"`)
	r.show(ev, chat.ToolStarted, "memory-search")
	r.until(`document.querySelector("#turn .doing").innerText === "Using memory-search"`)
	r.show(ev, chat.ToolEnded, "memory-search")
	r.until(`document.querySelector("#turn .tools").innerText === "memory-search"`)
	r.until(count("nav .busy", 1))
	sent := r.reply(ev, "Hello **you**!")
	r.until(count(".theirs", 1))
	r.want(`document.querySelector(".theirs .words").innerHTML`, "<p>Hello <strong>you</strong>!</p>")
	r.show(ev, chat.TurnCompleted, "")
	r.until(`document.querySelector("#turn").hidden`)
	r.do(chat.Edit{Place: ev.Place, Message: sent.Message, Text: "Hello, you."})
	r.do(chat.React{Place: ev.Place, Message: ev.Message, Emoji: "👋"})
	r.until(count(".mine .reactions", 1))
	r.want(texts(".theirs .words"), "Hello, you.")

	// Reload: the same conversation, from the bot's own record.
	r.steps(chromedp.Reload())
	r.until(count(".theirs", 1))
	r.want(texts(".mine .body"), "hello there")
	r.want(texts(".theirs .words"), "Hello, you.")
	r.want(texts(".mine .reactions"), "👋")
	r.want(`document.title`, "hello there · Mochi")

	// A second conversation, and back to the first.
	r.steps(chromedp.Click(chromedp.CSS("#fresh")))
	r.until(`!document.querySelector("#empty").hidden`)
	r.write("another\n")
	r.answer(r.next("another"), "Yes.")
	r.until(`document.querySelector(".theirs .words")?.innerText === "Yes."`)
	r.until(count("nav li", 2))
	r.want(texts("nav .what"), "another | hello there")
	r.steps(chromedp.Click(chromedp.CSS("nav li:nth-child(2) a")))
	r.until(`document.querySelector(".theirs .words")?.innerText === "Hello, you."`)
}

func TestStopping(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.write("a long story\n")
	ev := r.next("a long story")
	r.show(ev, chat.TurnStarted, "")
	r.until(`!document.querySelector("#turn").hidden`)
	r.steps(chromedp.Click(chromedp.CSS("#stop")))
	r.until(`document.querySelector("#stop").disabled`)
	r.show(ev, chat.TurnCancelled, "")
	r.until(`document.querySelector("#turn").hidden && document.querySelector(".note")?.innerText === "Stopped."`)
	r.change(func() {
		if r.stopped != 1 {
			t.Errorf("stopped %d times", r.stopped)
		}
	})
}

func TestCommandsAreOffered(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.write("/")
	r.until(count("#offers li", len(commands)))
	r.write("re")
	r.until(count("#offers li", 2))
	r.want(texts("#offers li small"), "Keep a memory | Search the memories")
	r.steps(chromedp.KeyEvent(kb.ArrowDown))
	r.until(`document.querySelector("#text").getAttribute("aria-activedescendant") === "offer-1"`)
	r.write("\n")
	r.until(`document.querySelector("#text").value === "/recall " && document.querySelector("#offers").hidden`)
	r.write("tea\n")
	r.next("/recall tea")
	r.write("/help")
	r.until(count("#offers li", 1))
	r.write("\n")
	r.next("/help") // Enter on a command that is written out sends it
	r.until(count(".mine", 2))
	r.want(`document.querySelector("#text").value`, "")
}

// What somebody said is shown, never obeyed.
func TestForeignTextStaysText(t *testing.T) {
	r := newRig(t, State{Bot: Bot{Name: `<img src=x onerror="pwned=1">`}, Agent: Agent{
		Name: "<b>x</b>", Missing: "<img src=x onerror='pwned=1'>", Next: "`<script>pwned=1</script>`"},
		Commands: []Command{{"/<i>", "<u>", "<s>help</s>"}}})
	r.open("/")
	hostile := []string{
		`<img src=x onerror="pwned=1">`, `<script>pwned=1</script>`, `[click](javascript:pwned=1)`,
		`[click](data:text/html,<script>pwned=1</script>)`, `[click](JaVaScRiPt:pwned=1)`, `[click](//evil.example/x)`,
		`![x](http://evil.example/x.png)`, `<https://a.example/"onmouseover="pwned=1>`, "`<svg onload=pwned=1>`",
		"```\"><img src=x onerror=pwned=1>\n</code></pre><script>pwned=1</script>\n```", "| <b>a</b> | b |\n|---|---|\n| <img src=x onerror=pwned=1> | c |",
		`**<iframe srcdoc="<script>parent.pwned=1</script>">**`, "> <style>*{display:none}</style>",
	}
	for i, text := range hostile {
		r.write("<u>hi</u>\n")
		ev := r.next("<u>hi</u>")
		sent := r.reply(ev, text)
		if i == 0 {
			r.do(chat.Edit{Place: ev.Place, Message: sent.Message, Text: text})
			r.do(chat.React{Place: ev.Place, Message: ev.Message, Emoji: text})
		}
		r.show(ev, chat.TurnStarted, "")
		r.show(ev, chat.ToolStarted, text)
		r.show(ev, chat.ToolEnded, text)
		r.show(ev, chat.TurnCompleted, "")
		r.until(count(".theirs", i+1))
	}
	r.want(`String(window.pwned)`, "undefined")
	r.want(`String(document.querySelectorAll("main img:not(.empty img), script:not([src]), iframe, style, #log svg, #log b:not(.meta b), .body u, #offers i").length)`, "0")
	r.want(`Array.from(document.querySelectorAll("#log a"), (a) => new URL(a.href).protocol + a.rel).join()`,
		"http:noopener noreferrer nofollow,https:noopener noreferrer nofollow")
	r.want(`Array.from(document.querySelectorAll("#log *")).filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length.toString()`, "0")
	shown := r.eval(texts(".theirs .words"))
	for _, must := range []string{hostile[0], hostile[1], hostile[2], hostile[3], `</code></pre><script>pwned=1</script>`} {
		if !strings.Contains(shown, must) {
			t.Errorf("%s is not shown as it was said:\n%s", must, shown)
		}
	}
	r.want(texts(".mine .body"), strings.TrimSuffix(strings.Repeat("<u>hi</u> | ", len(hostile)), " | "))
	r.want(texts(".mine .reactions"), hostile[0])
	r.want(`document.querySelector("#banner").innerText`, "<img src=x onerror='pwned=1'> <script>pwned=1</script>")
}

func TestTheStreamGoesOnAfterARestart(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.write("one\n")
	ev := r.next("one")
	r.answer(ev, "first reply")
	r.until(count(".theirs", 1))
	r.end()
	r.until(`document.querySelector("#link").innerText === "Reconnecting"`)
	// What is written meanwhile is not lost: it stays, with a way to send it again.
	r.write("two\n")
	r.until(count(".message.failed", 1))
	r.want(`document.querySelector(".message.failed .error").innerText`, "Not sent: the bot cannot be reached")
	r.start()
	r.reply(ev, "while you were away")
	r.until(`document.querySelector("#link").innerText === ""`)
	r.until(count(".theirs", 2))
	r.want(texts(".theirs .words"), "first reply | while you were away")
	r.steps(chromedp.Click(chromedp.CSS(".failed button")))
	r.next("two")
	r.until(count(".mine:not(.pending)", 2) + ` && ` + count(".pending", 0))
	r.want(texts(".mine .body"), "one | two")
}

// Two messages written before the session has its name are of one session, in order.
func TestQuickWriting(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.write("one\ntwo\nthree\n")
	first, second, third := r.next("one"), r.next("two"), r.next("three")
	if first.Place != second.Place || second.Place != third.Place {
		t.Errorf("places %v, %v, %v", first.Place, second.Place, third.Place)
	}
	r.until(count(".mine:not(.pending)", 3) + ` && ` + count(".pending", 0))
	r.want(texts(".mine .body"), "one | two | three")
	r.write("with\\") // Shift+Enter: a new line
	r.steps(chromedp.KeyEvent("\r", chromedp.KeyModifiers(8)))
	r.write("break\n")
	r.next("with\\\nbreak")
}

func TestEarlierMessages(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.write("start\n")
	ev := r.next("start")
	for i := range 500 {
		r.reply(ev, fmt.Sprintf("reply %d", i))
	}
	r.until(count(".theirs", 500))
	r.steps(chromedp.Reload())
	r.until(count(".theirs", 400))
	r.steps(chromedp.Click(chromedp.CSS("#earlier")))
	r.until(count(".theirs", 500) + ` && document.querySelector("#earlier").hidden`)
	r.want(`document.querySelector(".theirs .words").innerText`, "reply 0")
	r.want(texts(".mine .body"), "start")
}

func TestOtherLanguagesAndMissingAgent(t *testing.T) {
	state := ready()
	state.Bot.Language = "zh-TW"
	state.Agent = Agent{Missing: "還沒有模型。", Next: "設定 `agent.model`。"}
	r := newRig(t, state)
	r.open("/")
	r.want(`document.documentElement.lang`, "zh-TW")
	r.want(`document.querySelector("#banner").innerText`, "還沒有模型。 設定 agent.model。")
	r.want(`document.querySelector("#fresh").innerText.trim()`, "新對話")
	r.want(`document.querySelector("#text").placeholder`, "寫給 Mochi")
	r.change(func() { r.out = true })
	r.steps(chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new Event("visibilitychange"))`))
	r.until(`document.querySelector("#banner").innerText.includes("familiar open")`)
	r.steps(chromedp.Reload())
	r.want(`document.querySelector("h1").innerText`, words("zh-TW")["lockedTitle"])
}

func TestOnAPhone(t *testing.T) {
	r := newRig(t, ready())
	r.steps(chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch))
	r.open("/")
	r.write("a-word-that-is-far-too-long-for-a-narrow-screen-" + strings.Repeat("x", 80) + "\n")
	ev := <-r.heard
	r.answer(ev, "```\n"+strings.Repeat("wide ", 60)+"\n```\n\n"+strings.Repeat("long", 60))
	r.until(count(".theirs", 1))
	r.want(`String(document.documentElement.scrollWidth <= innerWidth && document.querySelector("#scroll").scrollWidth <= innerWidth)`, "true")
	r.want(`getComputedStyle(document.querySelector("#side")).visibility`, "hidden")
	r.steps(chromedp.Click(chromedp.CSS("#menu")))
	r.until(`getComputedStyle(document.querySelector("#side")).visibility === "visible" && document.querySelector("main").inert`)
	r.steps(chromedp.KeyEvent(kb.Escape))
	r.until(`getComputedStyle(document.querySelector("#side")).visibility === "hidden" && document.activeElement.id === "menu"`)
}
