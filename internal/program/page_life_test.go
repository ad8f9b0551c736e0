package program

import (
	"testing"

	"github.com/chromedp/chromedp"

	"familiar/internal/agent/script"
	"familiar/internal/console/consoletest"
)

// A power cut in the middle of a turn: the page says so, finds the bot again by itself, and is still logged in.
func TestPageOutlivesTheProgram(t *testing.T) {
	b := newBot(t, scripted(t,
		script.Turn{On: "are you back", Steps: []script.Step{reply("I am back.")}},
		script.Turn{On: "a long story", Steps: []script.Step{{Call: "memory-search", Args: []byte(`{"query":"x"}`)}, {Wait: true}}},
		script.Turn{On: "hello", Steps: []script.Step{reply("Hello.")}}))
	b.start()
	p := browse(t, b)
	p.logIn()
	p.Write("hello\n")
	p.settled(1)
	p.Write("a long story\n")
	p.Until(`document.querySelector("#turn .tools").innerText === "memory-search"`)
	p.Unanswered(func() {
		b.kill()
		p.Until(`document.querySelector("#link").innerText === "Reconnecting"`)
		b.start()
		p.Until(`document.querySelector("#link").innerText === ""`)
		p.settled(2) // the turn does not seem to run for ever: the bot says what became of it
	})
	p.Until(`document.querySelector(".theirs:last-child .words").innerText.includes("a restart came between")`)
	p.Write("are you back?\n")
	p.settled(3)
	p.Want(`document.querySelector(".theirs:last-child .words").innerText`, "I am back.")
	p.Steps(chromedp.Reload())
	p.settled(3)
	p.Want(consoletest.Texts(".mine .body"), "hello | a long story | are you back?")
	p.Want(consoletest.Texts(".message.pending, .message.failed"), "")
	p.Want(`document.querySelector("#banner").hidden + ""`, "true")
}

// Without an agent the page says what is missing, and the owner's commands work; all in the bot's language.
func TestPageWithoutAnAgent(t *testing.T) {
	for _, says := range []struct{ language, missing, install, none, placeholder, help, locked string }{
		{"en", "No agent is installed", "npm install -g opencode-ai", "Nobody here can think for me yet", "Write to Mochi",
			"What you can ask for:", "This page is locked"},
		{"zh-TW", "尚未安裝代理程式", "npm install -g opencode-ai", "目前還沒有可以替我思考的代理程式", "寫給 Mochi", "你可以用這些指令：", "此頁面已鎖定"},
	} {
		t.Run(says.language, func(t *testing.T) {
			b := newBot(t, "version: 1\nbot: {name: Mochi, language: "+says.language+"}\n", "PATH="+t.TempDir())
			b.start()
			p := browse(t, b)
			p.logIn()
			p.Want(`document.documentElement.lang`, says.language)
			p.Until(`!document.querySelector("#banner").hidden`)
			banner := `document.querySelector("#banner").innerText`
			p.Until(banner + `.includes("` + says.missing + `") && ` + banner + `.includes("` + says.install + `")`)
			p.Want(`document.querySelector("#text").placeholder`, says.placeholder)
			p.Write("hello\n")
			p.settled(1)
			p.Until(`document.querySelector(".theirs .words").innerText.includes("` + says.none + `")`)
			p.Write("/help\n")
			p.settled(2)
			p.Want(`document.querySelector(".theirs:last-child .words p").innerText`, says.help)
			stranger := p.stranger()
			stranger.Unanswered(func() {
				stranger.Steps(chromedp.Navigate(b.home()))
				stranger.Want(`document.querySelector("h1").innerText`, says.locked)
			})
		})
	}
}
