package console

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"familiar/internal/chat"
	"familiar/internal/console/consoletest"
)

var pictures = flag.String("pictures", "", "write pictures of the page into this directory")

const sample = "Good morning! Three things for today:\n\n1. **Stand-up** at 9:30, you wanted to bring the *bench numbers*\n" +
	"2. The parcel comes between 10:00 and 12:00\n3. Dinner with Ann: [the place](https://example.org/table) closes at `22:00`\n\n" +
	"The numbers from last night:\n\n| what | p50 | p99 |\n|---|---|---|\n| event to prompt | 0.8 ms | 3.9 ms |\n| search | 2.1 ms | 8.4 ms |\n\n" +
	"```go\nfunc main() {\n\tfmt.Println(\"one reply, exactly once\")\n}\n```\n\n> You said last week that you would rather walk there."

// TestPictures makes the pictures that a person looks at; it runs only when asked.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -pictures directory")
	}
	r := newRig(t, ready())
	shot := func(name string) {
		t.Helper()
		r.Until(`document.getAnimations().every((a) => a.effect.getComputedTiming().iterations === Infinity || a.playState !== "running")`)
		data, err := chromedp.Run(r.Tab, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*pictures, name+".png"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	both := func(name string) {
		t.Helper()
		r.Prefer("light")
		shot(name + "-light")
		r.Prefer("dark")
		shot(name + "-dark")
		r.Prefer("light")
	}
	wide, phone := chromedp.EmulateViewport(1280, 860), chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateScale(2))
	r.Steps(wide)
	r.open("/")
	both("empty")
	r.Write("Remind me what the parcel was about\n")
	r.answer(r.next("Remind me what the parcel was about"), "The new keyboard. It was sent on Thursday.")
	r.Until(consoletest.Count(".theirs", 1))
	r.Click("#fresh")
	r.Write("Good morning, what is on today?\n")
	ev := r.next("Good morning, what is on today?")
	r.show(ev, chat.TurnStarted, "")
	r.show(ev, chat.ToolStarted, "memory-search")
	r.Until(`document.querySelector("#turn .doing code") !== null`)
	shot("turn-light")
	r.show(ev, chat.ToolEnded, "memory-search")
	r.reply(ev, sample)
	r.Until(consoletest.Count(".theirs", 1))
	r.show(ev, chat.ToolStarted, "send-reply")
	r.Until(consoletest.Count(".tools span", 1))
	both("talk")
	r.Write("/")
	shot("offers")
	r.Write("\b")
	r.Steps(phone)
	both("phone")
	r.Click("#menu")
	shot("phone-drawer")
	r.do(chat.Show{Place: ev.Place, Turn: "turn_" + chat.TurnID(ev.Message), Progress: chat.Progress{Stage: chat.TurnFailed,
		Reason: "Anthropic refuses the key: invalid x-api-key", Next: "Check the API key, then start the bot again: `familiar up`."}})
	r.Steps(chromedp.KeyEvent(kb.Escape), wide)
	r.Until(consoletest.Count(".note.failed", 1))
	both("failed")

	r.change(func() {
		r.state.Bot = Bot{ID: "mochi", Name: "麻糬", Language: "zh-TW"}
		r.state.Agent = Agent{Missing: "還沒有代理可以思考。", Next: "安裝 OpenCode 並設定模型,或在 `config.yaml` 設定 `agent.command`,再執行 `familiar restart mochi`。"}
		r.hears = chat.Busy
	})
	r.Steps(wide)
	r.open("/?again")
	r.Until(consoletest.Count(".theirs", 1))
	r.Unanswered(func() { // busy
		r.Write("你好,今天天氣如何?\n")
		r.Until(consoletest.Count(".message.failed", 1))
	})
	both("zh-TW")
	r.Click("#fresh")
	shot("zh-TW-empty")
	r.change(func() { r.out = true })
	r.Unanswered(func() {
		r.Steps(chromedp.Navigate("http://" + r.addr + "/?x"))
		both("locked")
	})
}
