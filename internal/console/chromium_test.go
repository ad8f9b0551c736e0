package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"familiar/internal/chat"
	"familiar/internal/console/consoletest"
)

func TestAConversation(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Want(`document.querySelector("#empty h2").innerText`, "This is Mochi.")
	r.Want(`document.querySelector(".goes").innerText`, "What you write here goes to OpenCode · Anthropic · claude-sonnet-4-5.")
	r.Want(`String(document.querySelector("#banner").hidden)`, "true")

	r.Write("hello there\n")
	ev := r.next("hello there")
	r.Until(consoletest.Count(".mine:not(.pending)", 1))
	r.Want(consoletest.Texts(".day"), "Today")
	r.show(ev, chat.TurnStarted, "")
	r.Until(`document.querySelector("#turn .doing").innerText === "Thinking"`)
	r.show(ev, chat.ToolStarted, "memory-search")
	r.Until(`document.querySelector("#turn .doing").innerText === "Using memory-search"`)
	r.show(ev, chat.ToolEnded, "memory-search")
	r.Until(`document.querySelector("#turn .tools").innerText === "memory-search"`)
	r.Until(consoletest.Count("nav .busy", 1))
	sent := r.reply(ev, "Hello **you**!")
	r.Until(consoletest.Count(".theirs", 1))
	r.Want(`document.querySelector(".theirs .words").innerHTML`, "<p>Hello <strong>you</strong>!</p>")
	r.show(ev, chat.TurnCompleted, "")
	r.Until(`document.querySelector("#turn").hidden`)
	r.do(chat.Edit{Place: ev.Place, Message: sent.Message, Text: "Hello, you."})
	r.do(chat.React{Place: ev.Place, Message: ev.Message, Emoji: "👋"})
	r.Until(consoletest.Count(".mine .reactions", 1))
	r.Want(consoletest.Texts(".theirs .words"), "Hello, you.")

	// Reload: the same conversation, from the bot's own record.
	r.Steps(chromedp.Reload())
	r.Until(consoletest.Count(".theirs", 1))
	r.Want(consoletest.Texts(".mine .body"), "hello there")
	r.Want(consoletest.Texts(".theirs .words"), "Hello, you.")
	r.Want(consoletest.Texts(".mine .reactions"), "👋")
	r.Want(`document.title`, "hello there · Mochi")

	// A second conversation, and back to the first.
	r.Click("#fresh")
	r.Until(`!document.querySelector("#empty").hidden`)
	r.Write("another\n")
	r.answer(r.next("another"), "Yes.")
	r.Until(`document.querySelector(".theirs .words")?.innerText === "Yes."`)
	r.Until(consoletest.Count("nav li", 2))
	r.Want(consoletest.Texts("nav .what"), "another | hello there")
	r.Click("nav li:nth-child(2) a")
	r.Until(`document.querySelector(".theirs .words")?.innerText === "Hello, you."`)
}

func TestStopping(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Write("a long story\n")
	ev := r.next("a long story")
	r.show(ev, chat.TurnStarted, "")
	r.Until(`!document.querySelector("#turn").hidden`)
	r.Click("#stop")
	r.Until(`document.querySelector("#stop").disabled`)
	r.show(ev, chat.TurnCancelled, "")
	r.Until(`document.querySelector("#turn").hidden && document.querySelector(".note")?.innerText === "Stopped."`)
	r.change(func() {
		if r.stopped != 1 {
			t.Errorf("stopped %d times", r.stopped)
		}
	})
}

// A failed turn says why and what can be done, where the bot tells it; as text, whatever it holds.
func TestAFailedTurnSaysWhy(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Write("hello\n")
	ev := r.next("hello")
	fail := func(reason, next string) {
		r.do(chat.Show{Place: ev.Place, Turn: "turn_1", Progress: chat.Progress{Stage: chat.TurnFailed, Reason: reason, Next: next}})
	}
	fail("", "")
	fail("the key <b>sk-…</b> is refused", "Set `ANTHROPIC_API_KEY`.")
	r.Until(consoletest.Count(".note.failed", 2))
	r.Want(`document.querySelector(".note").innerText`, "This turn ended with an error.")
	r.Want(consoletest.Texts(".note .why"), "the key <b>sk-…</b> is refused")
	r.Want(`document.querySelector(".note .next").innerHTML`, "Set <code>ANTHROPIC_API_KEY</code>.")
	r.Steps(chromedp.Reload())
	r.Until(consoletest.Count(".note .why", 1))
}

func TestCommandsAreOffered(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Write("/")
	r.Until(consoletest.Count("#offers li", len(commands)))
	r.Write("re")
	r.Until(consoletest.Count("#offers li", 2))
	r.Want(consoletest.Texts("#offers li small"), "Keep a memory | Search the memories")
	r.Steps(chromedp.KeyEvent(kb.ArrowDown))
	r.Until(`document.querySelector("#text").getAttribute("aria-activedescendant") === "offer-1"`)
	r.Write("\n")
	r.Until(`document.querySelector("#text").value === "/recall " && document.querySelector("#offers").hidden`)
	r.Write("tea\n")
	r.next("/recall tea")
	r.Write("/help")
	r.Until(consoletest.Count("#offers li", 1))
	r.Write("\n")
	r.next("/help") // Enter on a command that is written out sends it
	r.Until(consoletest.Count(".mine", 2))
	r.Want(`document.querySelector("#text").value`, "")
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
		r.Write("<u>hi</u>\n")
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
		r.Until(consoletest.Count(".theirs", i+1))
	}
	r.Want(`String(window.pwned)`, "undefined")
	r.Want(`String(document.querySelectorAll("main img:not(.empty img), script:not([src]), iframe, style, #log svg, #log b:not(.meta b), .body u, #offers i").length)`, "0")
	r.Want(`Array.from(document.querySelectorAll("#log a"), (a) => new URL(a.href).protocol + a.rel).join()`,
		"http:noopener noreferrer nofollow,https:noopener noreferrer nofollow")
	r.Want(`Array.from(document.querySelectorAll("#log *")).filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length.toString()`, "0")
	shown := r.Eval(consoletest.Texts(".theirs .words"))
	for _, must := range []string{hostile[0], hostile[1], hostile[2], hostile[3], `</code></pre><script>pwned=1</script>`} {
		if !strings.Contains(shown, must) {
			t.Errorf("%s is not shown as it was said:\n%s", must, shown)
		}
	}
	r.Want(consoletest.Texts(".mine .body"), strings.TrimSuffix(strings.Repeat("<u>hi</u> | ", len(hostile)), " | "))
	r.Want(consoletest.Texts(".mine .reactions"), hostile[0])
	r.Want(`document.querySelector("#banner").innerText`, "<img src=x onerror='pwned=1'> <script>pwned=1</script>")
}

func TestTheStreamGoesOnAfterARestart(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Write("one\n")
	ev := r.next("one")
	r.answer(ev, "first reply")
	r.Until(consoletest.Count(".theirs", 1))
	r.Unanswered(func() {
		r.end()
		r.Until(`document.querySelector("#link").innerText === "Reconnecting"`)
		// What is written meanwhile is not lost: it stays, with a way to send it again.
		r.Write("two\n")
		r.Until(consoletest.Count(".message.failed", 1))
		r.Want(`document.querySelector(".message.failed .error").innerText`, "Not sent: the bot cannot be reached")
		r.start()
		r.reply(ev, "while you were away")
		r.Until(`document.querySelector("#link").innerText === ""`)
	})
	r.Until(consoletest.Count(".theirs", 2))
	r.Want(consoletest.Texts(".theirs .words"), "first reply | while you were away")
	r.Click(".failed button")
	r.next("two")
	r.Until(consoletest.Count(".mine:not(.pending)", 2) + ` && ` + consoletest.Count(".pending", 0))
	r.Want(consoletest.Texts(".mine .body"), "one | two")
}

// Two messages written before the session has its name are of one session, in order.
func TestQuickWriting(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Write("one\ntwo\nthree\n")
	first, second, third := r.next("one"), r.next("two"), r.next("three")
	if first.Place != second.Place || second.Place != third.Place {
		t.Errorf("places %v, %v, %v", first.Place, second.Place, third.Place)
	}
	r.Until(consoletest.Count(".mine:not(.pending)", 3) + ` && ` + consoletest.Count(".pending", 0))
	r.Want(consoletest.Texts(".mine .body"), "one | two | three")
	r.Write("with\\") // Shift+Enter: a new line
	r.Steps(chromedp.KeyEvent("\r", chromedp.KeyModifiers(8)))
	r.Write("break\n")
	r.next("with\\\nbreak")
}

func TestEarlierMessages(t *testing.T) {
	r := newRig(t, ready())
	r.open("/")
	r.Write("start\n")
	ev := r.next("start")
	for i := range 500 {
		r.reply(ev, fmt.Sprintf("reply %d", i))
	}
	r.Until(consoletest.Count(".theirs", 500))
	r.Steps(chromedp.Reload())
	r.Until(consoletest.Count(".theirs", 400))
	r.Click("#earlier")
	r.Until(consoletest.Count(".theirs", 500) + ` && document.querySelector("#earlier").hidden`)
	r.Want(`document.querySelector(".theirs .words").innerText`, "reply 0")
	r.Want(consoletest.Texts(".mine .body"), "start")
}

func TestOtherLanguagesAndMissingAgent(t *testing.T) {
	state := ready()
	state.Bot.Language = "zh-TW"
	state.Agent = Agent{Missing: "還沒有模型。", Next: "設定 `agent.model`。"}
	r := newRig(t, state)
	r.open("/")
	r.Want(`document.documentElement.lang`, "zh-TW")
	r.Want(`document.querySelector("#banner").innerText`, "還沒有模型。 設定 agent.model。")
	r.Want(`document.querySelector("#fresh").innerText.trim()`, "新對話")
	r.Want(`document.querySelector("#text").placeholder`, "寫給 Mochi")
	r.Unanswered(func() {
		r.change(func() { r.out = true })
		r.Steps(chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new Event("visibilitychange"))`))
		r.Until(`document.querySelector("#banner").innerText.includes("familiar open")`)
		r.Steps(chromedp.Reload())
		r.Want(`document.querySelector("h1").innerText`, words("zh-TW")["lockedTitle"])
	})
}

func TestOnAPhone(t *testing.T) {
	r := newRig(t, ready())
	r.Steps(chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile, chromedp.EmulateTouch))
	r.open("/")
	r.Write("a-word-that-is-far-too-long-for-a-narrow-screen-" + strings.Repeat("x", 80) + "\n")
	ev := <-r.heard
	r.answer(ev, "```\n"+strings.Repeat("wide ", 60)+"\n```\n\n"+strings.Repeat("long", 60)+
		"\n\n| kind | minutes | what to know about it before |\n|-|-|-|\n| green | 2 | "+strings.Repeat("word ", 20)+"|")
	r.Until(consoletest.Count(".theirs", 1))
	r.Want(`[...document.querySelectorAll("th, td")].slice(0, 2).map((cell) => { const words = document.createRange();
		words.selectNodeContents(cell);
		return words.getClientRects().length; }).join()`, "1,1")
	r.Want(`String(document.documentElement.scrollWidth <= innerWidth && document.querySelector("#scroll").scrollWidth <= innerWidth)`, "true")
	r.Want(`getComputedStyle(document.querySelector("#side")).visibility`, "hidden")
	r.Click("#menu")
	r.Until(`getComputedStyle(document.querySelector("#side")).visibility === "visible" && document.querySelector("main").inert`)
	r.Steps(chromedp.KeyEvent(kb.Escape))
	r.Until(`getComputedStyle(document.querySelector("#side")).visibility === "hidden" && document.activeElement.id === "menu"`)
}

// What runs from right to left does so by itself, among words that do not.
func TestRightToLeft(t *testing.T) {
	state := ready()
	state.Bot.Name = "ميموزا"
	r := newRig(t, state)
	r.open("/")
	r.Write("שלום hello\n")
	r.answer(<-r.heard, "First this.\n\nمرحبا English.\n\n```\nls\n```")
	r.Until(consoletest.Count(".theirs", 1))
	r.Until(consoletest.Count("nav .what", 1))
	r.Want(`(() => { const [name, time] = [".meta b", ".meta time"].map((at) => document.querySelector(".theirs " + at).getBoundingClientRect());
		return String(name.right <= time.left); })()`, "true")
	for _, at := range []string{"#title", "nav .what", ".brand .name", ".mine .body"} {
		r.Want(fmt.Sprintf(`getComputedStyle(document.querySelector(%q)).direction`, at), "rtl")
	}
	r.Want(`[...document.querySelectorAll(".theirs .words p")].map((p) => { const words = document.createRange();
		words.selectNodeContents(p);
		const [all, own] = [p, words].map((it) => it.getBoundingClientRect());
		return Math.abs(own.right - all.right) < 2 ? "right" : Math.abs(own.left - all.left) < 2 ? "left" : "neither"; }).join()`, "left,right")
}
