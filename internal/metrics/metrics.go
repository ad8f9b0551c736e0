// Package metrics counts what happens, in a registry of its own, and shows it to whoever fetches it in the format
// of Prometheus. Every name begins with familiar_ and every series has app="familiar". Labels take a bounded number
// of values, whatever they are handed. Nothing here holds a word of what people say, nor an id of a person.
//
// A nil Metrics counts nothing: it is what a bot has whose metrics are off, and it costs nothing.
package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	prefix = "familiar"
	app    = "familiar"
)

// Bounds of a fetch.
const (
	fetchTime = 10 * time.Second
	fetches   = 4 // at once; further ones are answered 503
)

// sessionTimes are the upper ends of the buckets for how long a session takes, in seconds (air-friends spec §8.5).
var sessionTimes = []float64{1, 5, 10, 30, 60, 120, 300, 600}

// waitTimes are those for how long an event waits for its turn: mostly not at all, at worst behind a whole session.
var waitTimes = []float64{0.001, 0.01, 0.1, 1, 5, 10, 30, 60, 120, 300, 600}

// Metrics are the counts of one bot. Make it with New. Safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	active   prometheus.Gauge
	sessions *prometheus.CounterVec
	took     *prometheus.HistogramVec
	waited   *prometheus.HistogramVec
	received *prometheus.CounterVec
	replies  *prometheus.CounterVec
	files    *prometheus.CounterVec
	memories *prometheus.CounterVec
	calls    *prometheus.CounterVec
	limited  *prometheus.CounterVec
	entries  *prometheus.CounterVec
	ready    *prometheus.GaugeVec
	idle     *prometheus.CounterVec

	remindersSet, remindersDelivered, remindersCancelled *prometheus.CounterVec

	platforms, kinds, skills, phases bound
}

// New makes the counts of a bot of this version. now is read at each fetch.
func New(version string, now Now) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	to := maker{prometheus.WrapRegistererWith(prometheus.Labels{"app": app}, m.registry)}
	m.active = to.gauge("active_sessions", "Sessions that run now.")
	m.sessions = to.counter("sessions_total", "Sessions that ended. One that the person stopped is a success.", "platform", "type", "status")
	m.took = to.times("session_duration_seconds", "How long sessions took.", sessionTimes, "platform", "type", "status")
	m.waited = to.times("turn_wait_seconds", "How long events waited for their turn.", waitTimes, "platform")
	m.received = to.counter("messages_received_total", "Messages that were accepted, commands too.", "platform")
	m.replies = to.counter("replies_sent_total", "Replies that went out.", "platform")
	m.files = to.counter("files_sent_total", "Files that agents sent.", "platform")
	m.memories = to.counter("memory_operations_total", "What was done with memories.", "operation", "visibility")
	m.calls = to.counter("skill_api_calls_total", "Calls of tools, whichever way they came.", "skill", "status")
	m.limited = to.counter("rate_limit_rejections_total", "Messages that were turned away because there were too many.", "platform")
	m.entries = to.counter("audit_entries_total", "Entries that the audit took.", "phase")
	m.ready = to.gauges("skill_readiness", "Whether what skills need is there: 1 or 0.", "skill")
	m.idle = to.counter("idle_timeout_total", "What became of agents that had gone silent: alive, dead or process_gone.", "platform", "outcome")
	m.remindersSet = to.counter("reminders_set_total", "Reminders that people asked for.", "platform")
	m.remindersDelivered = to.counter("reminders_delivered_total", "Reminders that were due and went out, or did not at last.", "platform", "status")
	m.remindersCancelled = to.counter("reminders_cancelled_total", "Reminders that were taken back, or had no way to their person.", "platform")
	to.gauges("build_info", "The build that runs; always 1.", "version", "goversion").WithLabelValues(version, runtime.Version()).Set(1)
	to.to.MustRegister(newReadings(now))
	return m
}

// Handler answers a fetch; 500 when something could not be read.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError,
		MaxRequestsInFlight: fetches, Timeout: fetchTime})
}

// maker makes metrics and registers them. Two of one name would be a mistake of ours, and panic at once.
type maker struct{ to prometheus.Registerer }

func (k maker) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: prefix, Name: name, Help: help}, labels)
	k.to.MustRegister(v)
	return v
}

func (k maker) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: prefix, Name: name, Help: help})
	k.to.MustRegister(g)
	return g
}

func (k maker) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: prefix, Name: name, Help: help}, labels)
	k.to.MustRegister(v)
	return v
}

func (k maker) times(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: prefix, Name: name, Help: help, Buckets: buckets}, labels)
	k.to.MustRegister(v)
	return v
}
