package research

import (
	"fmt"
	"net/url"
	"strings"

	"familiar/internal/setting"
)

// Config is the section companion.selfResearch.
type Config struct {
	Enabled       bool   `yaml:"enabled" env:"SELF_RESEARCH_ENABLED" doc:"read the feeds now and then and write a note; needs a model and a feed"`
	Model         string `yaml:"model" env:"SELF_RESEARCH_MODEL" doc:"model of such a session, as the agent names it"`
	RSSFeeds      []Feed `yaml:"rssFeeds" env:"SELF_RESEARCH_RSS_FEEDS" doc:"the feeds to read, RSS or Atom"`
	Review        string `yaml:"review" env:"SELF_RESEARCH_REVIEW" doc:"ask: a note waits until the owner lets it in; off: it goes in at once"`
	MinIntervalMs int    `yaml:"minIntervalMs" env:"SELF_RESEARCH_MIN_INTERVAL_MS" doc:"the shortest time between two such sessions, in milliseconds; an hour at least"`
	MaxIntervalMs int    `yaml:"maxIntervalMs" env:"SELF_RESEARCH_MAX_INTERVAL_MS" doc:"the longest time between two such sessions, in milliseconds"`
}

// Feed is one entry of rssFeeds.
type Feed struct {
	URL  string `yaml:"url" doc:"address of the feed"`
	Name string `yaml:"name" doc:"what the feed is called where the agent reads it"`
}

// The values of Review.
const (
	ReviewAsk = "ask"
	ReviewOff = "off"
)

// leastInterval bounds what research costs, in milliseconds.
const leastInterval = 3_600_000

// Defaults returns the section as it is when nothing is written: off.
func Defaults() Config {
	return Config{Review: ReviewAsk, MinIntervalMs: 43_200_000, MaxIntervalMs: 86_400_000}
}

// Check corrects what is out of range, and switches off what has nothing to work with.
func (c *Config) Check(r *setting.Report) {
	var feeds []Feed
	for i, feed := range c.RSSFeeds {
		at := fmt.Sprintf("rssFeeds[%d].url", i)
		place, err := url.Parse(strings.TrimSpace(feed.URL))
		switch {
		case strings.TrimSpace(feed.URL) == "":
			r.Warn(at, "is blank; the feed is left out")
		case err != nil || place.Host == "" || place.Scheme != "http" && place.Scheme != "https":
			r.Wrong(at, "is not an address as in https://example.org/feed.xml")
		default:
			feeds = append(feeds, feed)
		}
	}
	c.RSSFeeds = feeds
	if c.Enabled && len(c.RSSFeeds) == 0 {
		r.Warn("enabled", "is switched off: rssFeeds lists no feed")
		c.Enabled = false
	}
	if c.Enabled && strings.TrimSpace(c.Model) == "" {
		r.Warn("enabled", "is switched off: model is blank")
		c.Enabled = false
	}
	if c.Review != ReviewAsk && c.Review != ReviewOff {
		r.Wrong("review", "%q is neither %s nor %s", c.Review, ReviewAsk, ReviewOff)
	}
	if c.MinIntervalMs > c.MaxIntervalMs {
		r.Warn("minIntervalMs", "%d is above maxIntervalMs (%d); the two are exchanged", c.MinIntervalMs, c.MaxIntervalMs)
		c.MinIntervalMs, c.MaxIntervalMs = c.MaxIntervalMs, c.MinIntervalMs
	}
	r.AtLeast("minIntervalMs", &c.MinIntervalMs, leastInterval)
	r.AtLeast("maxIntervalMs", &c.MaxIntervalMs, leastInterval)
}
