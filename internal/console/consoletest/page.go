package consoletest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take to show something before the test fails: a bound, not a measure of speed.
const patience = 30 * time.Second

// Page is a tab on a page, and fails the test when something goes wrong there unseen. Its methods are for the
// goroutine of the test.
type Page struct {
	Tab context.Context

	t    *testing.T
	away atomic.Bool
}

// Watch makes a Page of a tab. From here on the test fails when a script throws or complains on the console, when
// the browser blocks something, or when something cannot be loaded.
func Watch(t *testing.T, tab context.Context) *Page {
	t.Helper()
	p := &Page{Tab: tab, t: t}
	err := chromedp.Listen(tab, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page threw: %s %+v", ev.ExceptionDetails.Text, ev.ExceptionDetails.Exception)
		case *runtime.EventConsoleAPICalled:
			t.Errorf("the page wrote on its console: %s %+v", ev.Type, ev.Args)
		case *log.EventEntryAdded:
			if p.away.Load() && ev.Entry.Source == log.EntrySourceNetwork {
				return
			}
			t.Errorf("the browser says (%s): %s %s", ev.Entry.Source, ev.Entry.Text, ev.Entry.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Unanswered does what makes requests fail: meanwhile that is no fault.
func (p *Page) Unanswered(do func()) {
	p.t.Helper()
	p.away.Store(true)
	do()
	p.away.Store(false)
}

// Steps does steps one after the other.
func (p *Page) Steps(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.Tab, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// Write types into the composer; "\n" is Enter.
func (p *Page) Write(text string) {
	p.t.Helper()
	p.Steps(chromedp.SendKeys(chromedp.CSS("#text"), text))
}

// Type types into what a selector names; "\n" is Enter.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.Steps(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Click clicks on what a selector names.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.Steps(chromedp.Click(chromedp.CSS(selector)))
}

// Prefer sets what the person prefers: "dark" or "light".
func (p *Page) Prefer(scheme string) {
	p.t.Helper()
	p.Steps(func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return none, err
	})
}

// Until waits for a condition in the page.
func (p *Page) Until(condition string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.Tab, patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](condition, chromedp.WithPollingInterval(25*time.Millisecond)))
	if err != nil {
		body, _ := chromedp.Run(p.Tab, chromedp.Evaluate[string](`document.body.innerText`))
		p.t.Fatalf("waited in vain for %s: %v\nthe page says:\n%s", condition, err, body)
	}
}

// Eval returns what an expression is in the page.
func (p *Page) Eval(expression string) string {
	p.t.Helper()
	got, err := chromedp.Run(p.Tab, chromedp.Evaluate[string](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// Want checks what an expression is in the page.
func (p *Page) Want(expression, want string) {
	p.t.Helper()
	if got := p.Eval(expression); got != want {
		p.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

// Texts is an expression: the words of all elements of a selector, joined with " | ".
func Texts(selector string) string {
	return fmt.Sprintf(`Array.from(document.querySelectorAll(%q), (e) => e.innerText.trim()).join(" | ")`, selector)
}

// Count is a condition: a selector names n elements.
func Count(selector string, n int) string {
	return fmt.Sprintf(`document.querySelectorAll(%q).length === %d`, selector, n)
}
