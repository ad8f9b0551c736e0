package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// Now is what is read at each fetch. All are needed; they must not block for longer than the disk does.
type Now struct {
	Queue   func() int                           // events that wait in a room
	Agents  func() int                           // processes of agents
	Inbox   func(context.Context) (int64, error) // events accepted and not finished
	Unknown func(context.Context) (int64, error) // messages of which nobody can tell whether they arrived
}

// readings are the gauges that are read at each fetch.
type readings struct {
	now                             Now
	queue, agents, inbox, uncertain *prometheus.Desc
}

func newReadings(now Now) readings {
	about := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(prefix, "", name), help, nil, nil)
	}
	return readings{now: now,
		queue:     about("queue_waiting", "Events that wait in line for their turn."),
		agents:    about("agents_alive", "Processes of agents, those that wait for work too."),
		inbox:     about("inbox_waiting", "Events that were accepted and are not finished."),
		uncertain: about("outbox_unknown", "Messages of which nobody can tell whether they arrived."),
	}
}

// Describe tells which gauges there are.
func (r readings) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{r.queue, r.agents, r.inbox, r.uncertain} {
		to <- d
	}
}

// Collect reads them.
func (r readings) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTime)
	defer cancel()
	to <- gauge(r.queue, int64(r.now.Queue()), nil)
	to <- gauge(r.agents, int64(r.now.Agents()), nil)
	n, err := r.now.Inbox(ctx)
	to <- gauge(r.inbox, n, err)
	n, err = r.now.Unknown(ctx)
	to <- gauge(r.uncertain, n, err)
}

func gauge(d *prometheus.Desc, n int64, err error) prometheus.Metric {
	if err != nil {
		return prometheus.NewInvalidMetric(d, err)
	}
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n))
}
