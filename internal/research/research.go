// Package research reads feeds for the sessions in which a bot learns something on its own. What stands in a feed was
// written by anybody: it is cut short, freed of markup, and fenced, so that whoever reads it can tell it from what the
// operator wrote. One feed that is broken, slow or none at all costs that feed and no other.
package research

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"

	"familiar/internal/egress"
)

// What is taken of the feeds (air-friends spec §7.3).
const (
	mostItems     = 20   // of one run
	mostFeedItems = 1000 // of one feed
	longDescr     = 300  // characters; a longer description is cut to cutDescr and three dots
	cutDescr      = 297
	longLine      = 500 // characters of a title or a source, and bytes of a link
	feedTimeout   = 10 * time.Second
	feedBytes     = 5 << 20
	mostMarks     = 100_000 // elements of XML, or objects of JSON: each takes far more room than its few bytes
	userAgent     = "Familiar (feed reader)"
)

// Item is one article that a feed announced, as plain text.
type Item struct{ Title, Source, URL, Description string }

// ErrNothing says that no feed had an item: there is nothing to research.
var ErrNothing = errors.New("no feed has anything to read")

// Reader reads the feeds of a configuration. Safe for concurrent use.
type Reader struct {
	feeds []source
	log   *slog.Logger
}

// source is a feed, with a client that can reach no other one in the operator's own network.
type source struct {
	Feed
	client *egress.Client
}

// NewReader makes a reader. The feeds may lie in the operator's own network, since the operator named them; where they
// redirect to may not.
func NewReader(cfg Config, log *slog.Logger) *Reader {
	r := &Reader{log: log}
	for _, f := range cfg.RSSFeeds {
		r.feeds = append(r.feeds, source{f, egress.New(egress.Options{Timeout: feedTimeout, MaxBytes: feedBytes, UserAgent: userAgent,
			Hosts: []string{egress.Host(f.URL)}})})
	}
	return r
}

// Items fetches every feed, one after another, and returns at most 20 items in a random order. It takes as long as the
// feeds do, 10 seconds each at most. ErrNothing when there is no item at all.
func (r *Reader) Items(ctx context.Context) ([]Item, error) {
	var all []Item
	for i, f := range r.feeds {
		items, err := f.read(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r.log.Warn("a feed was left out", "feed", i+1, "name", f.Name, "err", err)
			continue
		}
		all = append(all, items...)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if len(all) == 0 {
		return nil, ErrNothing
	}
	return all[:min(len(all), mostItems)], nil
}

// read fetches one feed. RSS, Atom and JSON Feed are told apart by what they are, not by what the server calls them.
func (f source) read(ctx context.Context) (items []Item, err error) {
	answer, err := f.client.Get(ctx, strings.TrimSpace(f.URL))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	defer func() {
		if p := recover(); p != nil { // a parser that meets what its author did not think of
			items, err = nil, errors.New("the feed cannot be read")
		}
	}()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	text, err := decodedXML(raw, answer.Charset)
	if err != nil {
		return nil, err
	}
	if strings.Count(text, "<")+strings.Count(text, "{") > mostMarks {
		return nil, fmt.Errorf("the feed has more than %d elements", mostMarks)
	}
	feed, err := gofeed.NewParser().Parse(strings.NewReader(text))
	if err != nil {
		return nil, errors.New("it is no feed in RSS, Atom or JSON Feed") // its own error may show what stands there
	}
	source := f.Name
	if source == "" {
		source = feed.Title
	}
	for _, of := range feed.Items[:min(len(feed.Items), mostFeedItems)] {
		if item, ok := itemOf(source, of); ok {
			items = append(items, item)
		}
	}
	return items, nil
}

// itemOf makes plain text of an item; false for one with neither a title nor a link.
func itemOf(source string, of *gofeed.Item) (Item, bool) {
	if of == nil {
		return Item{}, false
	}
	description := of.Description
	if strings.TrimSpace(description) == "" {
		description = of.Content
	}
	item := Item{Title: oneLine(of.Title), Source: oneLine(source), URL: link(of.Link), Description: shorten(plain(description))}
	return item, item.Title != "" || item.URL != ""
}

// shorten cuts a description that is too long (air-friends spec §7.3).
func shorten(text string) string {
	if r := []rune(text); len(r) > longDescr {
		return string(r[:cutDescr]) + "..."
	}
	return text
}

// oneLine makes one line of plain text.
func oneLine(text string) string {
	text = plain(text)
	if r := []rune(text); len(r) > longLine {
		return string(r[:longLine])
	}
	return text
}

// link returns an address of the web, "" for anything else.
func link(address string) string {
	address = strings.TrimSpace(address)
	web := strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
	if !web || len(address) > longLine || strings.ContainsAny(address, " \t\r\n<>\"") {
		return ""
	}
	return address
}

// Sources lists the addresses of items, for the record of what a session read.
func Sources(items []Item) []string {
	var urls []string
	for _, i := range items {
		if i.URL != "" {
			urls = append(urls, i.URL)
		}
	}
	return urls
}

// String is for logs: how much there is, and nothing of what.
func (i Item) String() string {
	return fmt.Sprintf("item of %d characters", len(i.Title)+len(i.Description))
}
