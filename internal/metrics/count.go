package metrics

import "time"

// Session is what a session came to.
type Session struct {
	Platform string
	Type     string // as the audit calls it: message, …
	OK       bool
	Took     time.Duration
	Waited   time.Duration // before it began
}

// SessionBegan counts a session that runs from now on. SessionEnded must follow, however it ends.
func (m *Metrics) SessionBegan() {
	if m != nil {
		m.active.Inc()
	}
}

// SessionEnded counts a session that SessionBegan counted.
func (m *Metrics) SessionEnded(s Session) {
	if m == nil {
		return
	}
	status := "failure"
	if s.OK {
		status = "success"
	}
	platform, kind := m.platforms.value(s.Platform), m.kinds.value(s.Type)
	m.active.Dec()
	m.sessions.WithLabelValues(platform, kind, status).Inc()
	m.took.WithLabelValues(platform, kind, status).Observe(s.Took.Seconds())
	m.waited.WithLabelValues(platform).Observe(s.Waited.Seconds())
}

// MessageReceived counts a message that was accepted, whether it causes a session or not.
func (m *Metrics) MessageReceived(platform string) {
	if m != nil {
		m.received.WithLabelValues(m.platforms.value(platform)).Inc()
	}
}

// ReplySent counts a reply that went out, in however many parts.
func (m *Metrics) ReplySent(platform string) {
	if m != nil {
		m.replies.WithLabelValues(m.platforms.value(platform)).Inc()
	}
}

// FilesSent counts files that went out.
func (m *Metrics) FilesSent(platform string, n int) {
	if m != nil {
		m.files.WithLabelValues(m.platforms.value(platform)).Add(float64(n))
	}
}

// MemoryOperation counts something done with memories: save, search, patch or export, public or private.
func (m *Metrics) MemoryOperation(operation, visibility string) {
	if m != nil {
		m.memories.WithLabelValues(m.kinds.value(operation), m.kinds.value(visibility)).Inc()
	}
}

// ToolCalled counts a call of a tool that there is.
func (m *Metrics) ToolCalled(tool string, ok bool) {
	if m == nil {
		return
	}
	status := "error"
	if ok {
		status = "success"
	}
	m.calls.WithLabelValues(m.skills.value(tool), status).Inc()
}

// RateLimited counts a message that was turned away because there were too many.
func (m *Metrics) RateLimited(platform string) {
	if m != nil {
		m.limited.WithLabelValues(m.platforms.value(platform)).Inc()
	}
}

// AuditEntry counts an entry that the audit took.
func (m *Metrics) AuditEntry(phase string) {
	if m != nil {
		m.entries.WithLabelValues(m.phases.value(phase)).Inc()
	}
}

// Ready says whether something that skills need is there.
func (m *Metrics) Ready(skill string, ok bool) {
	if m == nil {
		return
	}
	value := 0.0
	if ok {
		value = 1
	}
	m.ready.WithLabelValues(m.skills.value(skill)).Set(value)
}

// IdleTimeout counts what became of an agent that had gone silent.
func (m *Metrics) IdleTimeout(platform, outcome string) {
	if m != nil {
		m.idle.WithLabelValues(m.platforms.value(platform), m.kinds.value(outcome)).Inc()
	}
}

// ReminderSet counts a reminder that somebody asked for.
func (m *Metrics) ReminderSet(platform string) {
	if m != nil {
		m.remindersSet.WithLabelValues(m.platforms.value(platform)).Inc()
	}
}

// ReminderDelivered counts a reminder that was due: it went out, or was given up.
func (m *Metrics) ReminderDelivered(platform string, ok bool) {
	if m == nil {
		return
	}
	status := "failure"
	if ok {
		status = "success"
	}
	m.remindersDelivered.WithLabelValues(m.platforms.value(platform), status).Inc()
}

// ReminderCancelled counts a reminder that was taken back, or that no way led to the person of.
func (m *Metrics) ReminderCancelled(platform string) {
	if m != nil {
		m.remindersCancelled.WithLabelValues(m.platforms.value(platform)).Inc()
	}
}
