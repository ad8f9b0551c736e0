// Package consoletest starts a real browser for tests of pages. It is for tests only.
package consoletest

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// limit is how long one browser may be used by a test.
const limit = 2 * time.Minute

// Chromium starts a headless browser with an empty profile and returns the context of its first tab, 1280 by 860; it ends with
// the test, and so does everything when it takes longer than two minutes. Where there is no browser the test is
// skipped, and fails when CI is set: there it must not be missing unseen.
func Chromium(t *testing.T, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	path := find()
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("chromium is not installed; the tests of the page need it (Debian: apt-get install chromium)")
		}
		t.Skip("chromium is not installed (Debian: apt-get install chromium)")
	}
	options := append([]chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.DisableGPU, chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-extensions", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("hide-scrollbars", true),
	}, more...)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(end)
	ctx, leave := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser is gone, before its profile is removed
		leave()
	})
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.EmulateViewport(1280, 860)); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return ctx
}

// find returns the browser's path: the wrapper of a distribution is skipped where the program itself is known, so
// that ending the process ends the browser.
func find() string {
	for _, name := range []string{"/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
