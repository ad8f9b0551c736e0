package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// Listener is a port of the bot.
type Listener struct {
	Key  string // of the configuration, as in server.port
	Host string // "" is every address
	Port int    // 0 takes any free one
	Next string // what to do when somebody else has it; "" when that is no matter
	Ours bool   // the bot that runs says that it has this one
}

// Ports checks that each port can be had, or is held by the bot itself when it runs. pid is its process, 0 when it does
// not run.
func Ports(pid int, all ...Listener) Check {
	return Check{Name: "ports", Look: func(ctx context.Context) []Line {
		var lines []Line
		for _, l := range all {
			lines = append(lines, l.look(ctx, pid))
		}
		return lines
	}}
}

func (l Listener) look(ctx context.Context, pid int) Line {
	address := net.JoinHostPort(l.Host, strconv.Itoa(l.Port))
	if l.Port == 0 {
		return Well("%s takes any free port", l.Key)
	}
	held, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		_ = held.Close() // it was taken for this moment only
	}
	switch {
	case err == nil && pid != 0:
		return Doubtful(fmt.Sprintf("%s: the bot runs and does not listen on %s", l.Key, address), "restart it: the port was changed since it started")
	case err == nil:
		return Well("%s: %s is free", l.Key, address)
	case errors.Is(err, syscall.EADDRINUSE):
		return l.taken(address, pid)
	}
	return Bad(fmt.Sprintf("%s: %s", l.Key, err), l.Next)
}

// taken says of a port that somebody has whether that is as it should be.
func (l Listener) taken(address string, pid int) Line {
	by := holderOf(l.Port, pid)
	switch {
	case pid != 0 && (l.Ours || by.pid == pid):
		return Well("%s: %s is taken, by the bot that runs", l.Key, address)
	case l.Next == "" && pid != 0:
		return Well("%s: %s has %s; the bot that runs uses another port", l.Key, by, address)
	case l.Next == "":
		return Well("%s: %s has %s; another port will be used", l.Key, by, address)
	}
	return Bad(fmt.Sprintf("%s: %s has %s", l.Key, by, address), l.Next)
}
