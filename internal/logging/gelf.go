package logging

import (
	"encoding/json"
	"log/slog"
	"math"
	"regexp"
	"strconv"
	"time"

	"familiar/internal/setting"
)

// GELF is how lines are shipped to a log server in the Graylog Extended Log Format, version 1.1.
type GELF struct {
	Enabled  bool   `yaml:"enabled" env:"GELF_ENABLED" doc:"ship every log line to a server, as GELF 1.1"`
	Endpoint string `yaml:"endpoint" env:"GELF_ENDPOINT" doc:"where it is: an address as in http://logs.example.org:12201/gelf for http, host:port for tcp and udp; empty ships nothing"`
	Hostname string `yaml:"hostname" env:"GELF_HOSTNAME" doc:"what the bot is called there"`
	Protocol string `yaml:"protocol" env:"GELF_PROTOCOL" doc:"http, tcp or udp"`
	Compress bool   `yaml:"compress" env:"GELF_COMPRESS" doc:"gzip what goes over udp"`
}

// check reports where nothing can be shipped to.
func (g *GELF) check(r *setting.Report) {
	r.OneOf("protocol", g.Protocol, "http", "tcp", "udp")
	if !g.On() {
		if g.Enabled {
			r.Warn("endpoint", "is empty; nothing is shipped")
		}
		return
	}
	if _, err := g.address(); err != nil {
		r.Wrong("endpoint", "%s", err)
	}
	if g.Hostname == "" {
		r.Missing("hostname")
	}
}

// On reports whether lines are to be shipped.
func (g GELF) On() bool { return g.Enabled && g.Endpoint != "" }

// gelfLevels are the severities of syslog that GELF counts by.
var gelfLevels = map[string]int{"FATAL": 2, "ERROR": 3, "WARN": 4, "INFO": 6, "DEBUG": 7}

// aField is a name that the format allows for a field of one's own.
var aField = regexp.MustCompile(`^[\w.\-]+$`)

// ownFields are the fields that every message has; a value of the context does not take their place. The format
// forbids _id.
var ownFields = map[string]bool{"id": true, moduleKey: true, "log_level": true, "messageTemplate": true}

// gelf writes an entry as a message of the format. What is in it is masked already.
func (e entry) gelf(host string) []byte {
	level := levelWord(e.record.Level)
	at := e.record.Time
	if at.IsZero() {
		at = time.Now()
	}
	text := e.message
	if text == "" {
		text = "-" // the format wants one
	}
	out := append([]byte(`{"version":"1.1","host":`), appendText(nil, host)...)
	out = append(appendText(append(out, `,"short_message":`...), text), `,"timestamp":`...)
	out = strconv.AppendFloat(out, float64(at.UnixMilli())/1000, 'f', 3, 64)
	out = strconv.AppendInt(append(out, `,"level":`...), int64(gelfLevels[level]), 10)
	out = appendText(append(out, `,"_log_level":`...), level)
	if e.module != "" {
		out = appendText(append(out, `,"_module":`...), e.module)
	}
	if e.template != "" {
		out = appendText(append(out, `,"_messageTemplate":`...), e.template)
	}
	for _, a := range e.context {
		if value := gelfValue(a.Value); value != nil && aField.MatchString(a.Key) && !ownFields[a.Key] {
			out = append(appendText(append(out, ','), "_"+a.Key), ':')
			out = append(out, value...)
		}
	}
	return append(out, '}')
}

// gelfValue writes a value as the format has it: a number or a text. Nil is left out.
func gelfValue(v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindInt64, slog.KindUint64:
		return appendValue(nil, v)
	case slog.KindFloat64:
		if f := v.Float64(); math.IsNaN(f) || math.IsInf(f, 0) {
			return appendText(nil, v.String())
		}
		return appendValue(nil, v)
	case slog.KindAny:
		if v.Any() == nil {
			return nil
		}
	case slog.KindBool, slog.KindDuration, slog.KindGroup, slog.KindLogValuer, slog.KindString, slog.KindTime:
	}
	value := appendValue(nil, v)
	if value[0] == '"' {
		return value
	}
	if string(value) == "null" {
		return nil
	}
	if _, err := strconv.ParseFloat(string(value), 64); err == nil && json.Valid(value) {
		return value
	}
	return appendText(nil, string(value))
}
