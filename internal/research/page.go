package research

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/egress"
	"familiar/internal/tool"
)

// What is read of a page.
const (
	pageTimeout  = 10 * time.Second
	pageBytes    = 2 << 20
	pageTextRune = 20_000 // characters that are told
	pageAgent    = "Familiar (page reader)"
)

//go:embed page.md
var pageDoc string

// pageTypes are what a page may say that it is.
var pageTypes = []string{"text/html", "application/xhtml+xml", "text/plain", "text/markdown"}

// Pages reads public pages. Safe for concurrent use.
type Pages struct {
	client *egress.Client
	noted  func(t chat.Turn, address string)
}

// NewPages makes a reader of pages, which may lie nowhere but in the public internet: which ones are read is up to an
// agent that has read what anybody wrote. noted is told of each page that a turn has read.
func NewPages(noted func(t chat.Turn, address string)) *Pages { return newPages(noted) }

// newPages lets the pages of some hosts lie anywhere.
func newPages(noted func(chat.Turn, string), hosts ...string) *Pages {
	return &Pages{egress.New(egress.Options{Timeout: pageTimeout, MaxBytes: pageBytes, UserAgent: pageAgent, Hosts: hosts}), noted}
}

// Tools returns read-page.
func (p *Pages) Tools() []tool.Tool {
	return []tool.Tool{tool.New(tool.Tool{Name: "read-page", Doc: pageDoc, Effect: tool.Reads, Needs: chat.Foreign}, p.read)}
}

type pageArgs struct {
	URL string `json:"url" jsonschema:"the address of the page, beginning with https:// or http://"`
}

// pageTold is a page as an agent reads it. Everything that its author wrote is in the fence.
type pageTold struct {
	URL  string `json:"url"`
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"` // there is more of it
}

// read fetches a page. From here on the turn has read what anybody may have written.
func (p *Pages) read(ctx context.Context, t chat.Turn, a pageArgs) (pageTold, error) {
	address := strings.TrimSpace(a.URL)
	if link(address) == "" {
		return pageTold{}, tool.Bad("read-page: url must be an address as in https://example.org/page, at most %d characters long", longLine)
	}
	page, from, err := p.fetch(ctx, address)
	if err != nil {
		return pageTold{}, pageFault(err)
	}
	t.Standing.Fall(chat.Foreign)
	p.noted(t, from)
	text := page.text
	told := pageTold{URL: from}
	if r := []rune(text); len(r) > pageTextRune {
		text, told.Cut = string(r[:pageTextRune]), true
	}
	told.Text = fence([][2]string{{"Title", page.title}, {"URL", from}}, text)
	return told, nil
}

// fetch reads a page, and tells where it lay in the end: a redirect may have led elsewhere.
func (p *Pages) fetch(ctx context.Context, address string) (page readable, from string, err error) {
	answer, err := p.client.Get(ctx, address)
	if err != nil {
		return page, "", err
	}
	defer answer.Body.Close()
	if !slices.Contains(pageTypes, answer.Type) {
		return page, "", fmt.Errorf("%w: %.60q", errNoPage, answer.Type)
	}
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return page, "", err
	}
	at, err := url.Parse(answer.Address)
	if err != nil || link(answer.Address) == "" {
		return page, "", errNoPage // nobody could be told where it lies
	}
	text, err := decoded(raw, answer.Charset)
	switch {
	case err != nil:
		return page, "", err
	case strings.HasPrefix(answer.Type, "text/html"), strings.HasPrefix(answer.Type, "application/"):
		return readHTML(text, at), answer.Address, nil
	}
	return readable{text: lines(text)}, answer.Address, nil
}

// errNoPage says that an address leads to something else.
var errNoPage = errors.New("it is neither a page of HTML nor plain text")

// pageFault is what an agent reads of a page that could not be had. What goes wrong on the way is nothing that it could
// mend, but it can take another page.
func pageFault(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return tool.Bad("read-page: the page did not come within %s; take another one", pageTimeout)
	case errors.Is(err, egress.ErrTooLarge):
		return tool.Bad("read-page: the page is larger than %d MiB; take another one", pageBytes>>20)
	}
	return tool.Bad("read-page: %v; take another one", err)
}
