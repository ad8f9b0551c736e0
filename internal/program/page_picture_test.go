package program

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"familiar/internal/console/consoletest"
	"familiar/internal/llm/llmtest"
)

const (
	askTea   = "What was that tea I liked so much in Kyoto?"
	askPot   = "Yes, that one! How do I make a proper pot of it?"
	askMore  = "Lovely. Remember that I am almost out of it, please."
	saidTea  = "That was **genmaicha**: green tea with roasted rice, from the little shop by the river. You said that it *smells like a warm kitchen*."
	saidPot  = "For one pot:\n\n1. Warm the pot and add **10 g** of tea\n2. Pour on 400 ml of water at 90 °C\n3. Wait **45 seconds**, then pour to the last drop"
	saidElse = "With pleasure. I have it in mind."
)

// TestPagePicture takes the picture of the page that the README shows: the real program, the real OpenCode, and
// what the model says from a script. PAGE_SHOT names the file to write; without it there is no picture to take.
func TestPagePicture(t *testing.T) {
	file := os.Getenv("PAGE_SHOT")
	if file == "" {
		t.Skip("PAGE_SHOT names no file")
	}
	hold := make(chan struct{})
	defer close(hold)
	b, _ := withOpenCode(t, tea(hold))
	if err := os.WriteFile(filepath.Join(b.dir, "config.yaml"), []byte("version: 1\nbot: {name: Mochi}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.beginWith("Names for the neighbours' cat", "/remember In Kyoto I loved the genmaicha of the little shop by the river. It smells like a warm kitchen.")
	b.beginWith("A film for a rainy evening")
	p := browse(t, b, chromedp.Env("FONTCONFIG_FILE="+fonts(t)))
	p.Steps(chromedp.EmulateViewport(1280, 800, chromedp.EmulateScale(2)))
	p.Prefer("light")
	p.logIn()
	p.Click("#fresh")
	p.Steps(chromedp.MouseEvent(chromedp.MouseMoved, 900, 20)) // nothing is pointed at
	for n, ask := range []string{askTea, askPot} {
		p.Write(ask + "\n")
		p.settled(n + 1)
	}
	p.Write(askMore + "\n")
	p.Until(`document.querySelector("#turn .tools").innerText.includes("memory-save")`)
	p.Until(consoletest.Count("nav .busy", 1))
	p.Eval(`document.activeElement.blur() ?? ""`) // no cursor that blinks
	p.Until(`document.getAnimations().every((a) => a.effect.getComputedTiming().iterations === Infinity || a.playState !== "running")`)
	data, err := chromedp.Run(p.Tab, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, smaller(t, data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// beginWith has a conversation that is over when the picture is taken.
func (b *bot) beginWith(texts ...string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	session := ""
	for _, text := range texts {
		reply, err := b.control().Say(ctx, session, text)
		if err != nil {
			b.t.Fatal(err)
		}
		session = reply.Session
	}
}

// fonts makes the browser take Inter (Debian: fonts-inter), where it is installed, for the font of the system: in
// a container that is often one for text on old screens.
func fonts(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fonts.conf")
	conf := `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><include>/etc/fonts/fonts.conf</include>`
	for _, family := range []string{"system-ui", "sans", "sans-serif"} {
		conf += `<match><test name="family"><string>` + family + `</string></test>` +
			`<edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>`
	}
	if err := os.WriteFile(path, []byte(conf+"</fontconfig>"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tea is a model that talks about tea, until it is held.
func tea(hold <-chan struct{}) llmtest.Script {
	answer := func(text string) llmtest.Reply {
		return call("familiar_send-reply", map[string]string{"message": text})
	}
	return llmtest.Script{Rules: []llmtest.Rule{
		{Match: llmtest.Match{AfterTool: "send-reply"}, Reply: llmtest.Reply{Text: "Done."}},
		{Match: llmtest.Match{AfterTool: "memory-save"}, Reply: llmtest.Reply{Text: "Done.", Hold: hold}},
		{Match: llmtest.Match{LastUser: "almost out of it", NotAfter: true},
			Reply: call("familiar_memory-save", map[string]string{"content": "Is almost out of genmaicha.", "importance": "normal"})},
		{Match: llmtest.Match{LastUser: "proper pot", NotAfter: true}, Reply: answer(saidPot)},
		{Match: llmtest.Match{LastUser: "What was that tea", NotAfter: true},
			Reply: call("familiar_memory-search", map[string]string{"query": "Kyoto"})},
		{Match: llmtest.Match{AfterTool: "memory-search"}, Reply: answer(saidTea)},
		{Match: llmtest.Match{NotAfter: true}, Reply: answer(saidElse)},
	}}
}

// smaller packs a picture as tightly as it goes.
func smaller(t *testing.T, data []byte) []byte {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&packed, picture); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}
