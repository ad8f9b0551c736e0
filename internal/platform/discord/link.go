package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/disgoorg/disgo/rest"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// The operations of the gateway.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// intents are what we ask to be told: servers, their emojis, messages in them and alone, and what messages say.
const intents = 1<<0 | 1<<3 | 1<<9 | 1<<12 | 1<<15

// The bounds of a connection.
const (
	connectTime = 30 * time.Second // from the first word to being connected
	writeTime   = 10 * time.Second
	maxFrame    = 64 << 20 // bytes; a big server is told of in one frame
)

// session is what a connection can be taken up again with. url is "" when the session's own address did not answer.
type session struct {
	id, url string
	seq     int64
	tries   int // to take it up, since that was last done
}

// mostTries is how often in a row a session is tried to be taken up: some break that Discord goes on knowing for minutes.
const mostTries = 3

// gateway is one connection.
type gateway struct {
	*Discord
	conn  *websocket.Conn
	seq   atomic.Int64
	acked atomic.Bool // the last heartbeat was answered
	hear  chat.Hear
	up    func()

	started sync.WaitGroup // what runs beside the reader
}

// beside lets something run while the connection lasts; it heeds the end of ctx.
func (g *gateway) beside(run func()) { g.started.Go(run) }

// connect opens a connection and reads it to its end. It returns when everything that it started has ended.
func (d *Discord) connect(ctx context.Context, hear chat.Hear, up func()) error {
	if d.resume.tries >= mostTries {
		d.resume = session{}
	}
	opening, done := context.WithTimeout(ctx, connectTime)
	defer done()
	conn, err := d.dial(opening)
	if err != nil {
		return err
	}
	conn.SetReadLimit(maxFrame)
	g := &gateway{Discord: d, conn: conn, hear: hear, up: up}
	g.seq.Store(d.resume.seq)
	g.acked.Store(true)
	reading, fail := context.WithCancelCause(context.WithoutCancel(ctx))
	defer g.started.Wait()
	defer fail(nil)
	defer func() { _ = conn.CloseNow() }()
	late := time.AfterFunc(connectTime, func() { fail(errors.New("discord did not let us in in time")) })
	defer late.Stop()
	g.up = func() { late.Stop(); up() }
	g.beside(func() { // a graceful end, so that the bot is seen to leave
		select {
		case <-ctx.Done():
			_ = conn.Close(websocket.StatusNormalClosure, "")
		case <-reading.Done():
		}
	})
	g.beside(func() { g.retry(reading) })
	err = g.read(reading, fail)
	if cause := context.Cause(reading); cause != nil {
		err = cause
	}
	return err
}

// dial opens the socket: of the session before where there is one, else of a new one.
func (d *Discord) dial(ctx context.Context) (*websocket.Conn, error) {
	url := d.resume.url
	if url == "" {
		var err error
		if url, err = d.address(ctx); err != nil {
			return nil, err
		}
	}
	conn, res, err := websocket.Dial(ctx, url+"/?v=10&encoding=json", nil)
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
	if err != nil {
		d.resume.url = "" // the common one may answer
		return nil, fmt.Errorf("connect to the gateway: %w", err)
	}
	return conn, nil
}

// address asks where the gateway is, and whether a new session may be begun.
func (d *Discord) address(ctx context.Context) (string, error) {
	told, err := get[gatewayBot](ctx, d, at(rest.GetGatewayBot, nil))
	if err != nil {
		return "", fmt.Errorf("ask for the gateway: %w", err)
	}
	if told.Limit != nil && told.Limit.Remaining == 0 && d.resume.id == "" {
		wait := time.Duration(told.Limit.ResetAfter) * time.Millisecond
		return "", platform.Temporary{Err: fmt.Errorf("discord allows no new session for %s", wait.Round(time.Second)), After: wait}
	}
	return told.URL, nil
}

// read reads frames until there are no more.
func (g *gateway) read(ctx context.Context, fail context.CancelCauseFunc) error {
	for {
		_, data, err := g.conn.Read(ctx)
		if err != nil {
			return g.closed(err)
		}
		var f frame
		if err := json.Unmarshal(data, &f); err != nil {
			g.log.Warn("the gateway sent what is no frame", chat.KeyErr, err)
			continue
		}
		if f.Seq != nil && *f.Seq > g.seq.Load() {
			g.seq.Store(*f.Seq)
			g.resume.seq = *f.Seq
		}
		if err := g.take(ctx, f, fail); err != nil {
			return err
		}
	}
}

// take does what one frame asks for. An error ends the connection.
func (g *gateway) take(ctx context.Context, f frame, fail context.CancelCauseFunc) error {
	switch f.Op {
	case opHello:
		var h hello
		if err := json.Unmarshal(f.Data, &h); err != nil || h.Interval <= 0 {
			return errors.New("the gateway's hello names no interval")
		}
		g.beside(func() { fail(g.beat(ctx, time.Duration(h.Interval)*time.Millisecond)) })
		return g.greet(ctx)
	case opHeartbeat:
		return g.heartbeat(ctx)
	case opAck:
		g.acked.Store(true)
	case opReconnect:
		return errors.New("discord asks us to connect anew")
	case opInvalid:
		if string(f.Data) != "true" {
			g.resume = session{}
		}
		return errors.New("discord does not know our session any more")
	case opDispatch:
		g.dispatch(ctx, f)
	}
	return nil
}

// greet takes the session up again, or begins one.
func (g *gateway) greet(ctx context.Context) error {
	token := g.cfg.Token.Reveal()
	if g.resume.id != "" {
		g.resume.tries++
		return send(ctx, g, opResume, resume{Token: token, Session: g.resume.id, Seq: g.resume.seq})
	}
	g.seq.Store(0)
	return send(ctx, g, opIdentify, identify{Token: token, Intents: intents,
		Properties: properties{OS: runtime.GOOS, Browser: "familiar", Device: "familiar"}})
}

// beat sends heartbeats until ctx ends, or until one was not answered when the next is due.
func (g *gateway) beat(ctx context.Context, every time.Duration) error {
	wait := time.Duration(rand.Float64() * float64(every)) // so that not everybody beats at once
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		if !g.acked.Swap(false) {
			return errors.New("discord does not answer heartbeats any more")
		}
		if err := g.heartbeat(ctx); err != nil {
			return err
		}
		wait = every
	}
}

func (g *gateway) heartbeat(ctx context.Context) error {
	if seq := g.seq.Load(); seq > 0 {
		return send(ctx, g, opHeartbeat, &seq)
	}
	return send[*int64](ctx, g, opHeartbeat, nil)
}

func send[D any](ctx context.Context, g *gateway, op int, d D) error {
	data, err := json.Marshal(struct {
		Op   int `json:"op"`
		Data D   `json:"d"`
	}{op, d})
	if err != nil {
		return err
	}
	ctx, done := context.WithTimeout(ctx, writeTime)
	defer done()
	if err := g.conn.Write(ctx, websocket.MessageText, data); err != nil {
		return fmt.Errorf("write to the gateway: %w", err)
	}
	return nil
}

// errToken is why nobody can connect with this token.
var errToken = errors.New("discord refuses the token; make a new one (https://discord.com/developers/applications, Bot, " +
	"Reset Token), set platforms.discord.token (DISCORD_TOKEN) and start again")

// hopeless are the codes of a close after which trying again changes nothing.
var hopeless = map[websocket.StatusCode]error{
	4004: errToken,
	4010: errors.New("discord refuses our shard"),
	4011: errors.New("discord wants this bot to be divided into shards, which Familiar does not do: the bot is in too many servers"),
	4012: errors.New("discord does not speak version 10 of its API any more: a newer Familiar is needed"),
	4013: errors.New("discord does not know what we ask to be told: a newer Familiar is needed"),
	4014: errors.New("discord lets the bot not read messages; switch on Message Content Intent " +
		"(https://discord.com/developers/applications, Bot, Privileged Gateway Intents) and start again"),
}

// closed is why the socket ended, and what that means for the session.
func (g *gateway) closed(err error) error {
	code := websocket.CloseStatus(err)
	if why, ok := hopeless[code]; ok {
		g.resume = session{}
		return platform.Fatal{Err: why}
	}
	switch code {
	case 4003, 4005, 4007, 4009: // it takes no session up again after these
		g.resume = session{}
	}
	return fmt.Errorf("the gateway closed the connection: %w", err)
}
