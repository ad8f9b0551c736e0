package program

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// deed is a kind of thing that happens in a soak.
type deed string

// The deeds. How often each comes is in planned.
const (
	saying    deed = "say"        // a message
	sharing   deed = "album"      // pictures without words, one after another
	editing   deed = "edit"       // of a message said lately
	recalling deed = "recall"     // of a message said lately
	stopping  deed = "stop"       // /stop
	pausing   deed = "pause"      // nothing for a while
	murder    deed = "kill agent" // kill -9 of an agent
	killing   deed = "kill"       // kill -9 of the program while a message is on its way to it, and a start
	leaving   deed = "restart"    // an orderly end, and a start
)

// planned says how often each deed comes, of a hundred; what is left over is messages.
var planned = []struct {
	deed  deed
	share int
}{{sharing, 8}, {editing, 12}, {recalling, 8}, {stopping, 8}, {pausing, 8}, {murder, 4}, {killing, 3}, {leaving, 1}}

// The chats of a soak, named for what the agent does in them.
const (
	quickly   = "quickly"   // replies at once
	slowly    = "slowly"    // takes its time before and after
	silently  = "silently"  // replies at the second prompt only
	failingly = "failingly" // fails
	dyingly   = "dyingly"   // its process dies
	endlessly = "endlessly" // thinks until it is stopped
)

var manners = []string{quickly, quickly, slowly, slowly, silently, failingly, dyingly, endlessly}

// step is one thing that happens. Back says which of the chat's messages it is about, counted from the newest.
type step struct {
	deed  deed
	chat  string
	back  int
	parts int
	after time.Duration
}

func (s step) String() string {
	return fmt.Sprintf("%s %s back %d parts %d after %v", s.deed, s.chat, s.back, s.parts, s.after)
}

// plan makes the steps of a soak: one seed, one plan, whatever comes of it.
type plan struct{ rng *rand.Rand }

func newPlan(seed int64) *plan { return &plan{rand.New(rand.NewPCG(uint64(seed), 0))} }

// next is the next step; calm ones leave the program alive.
func (p *plan) next(calm bool) step {
	manner := p.rng.IntN(len(manners))
	s := step{deed: saying, chat: fmt.Sprint(manners[manner], "-", manner), back: p.rng.IntN(4), parts: 2 + p.rng.IntN(3),
		after: time.Duration(p.rng.IntN(int(200 * time.Millisecond)))}
	at := p.rng.IntN(100)
	for _, one := range planned {
		if at -= one.share; at < 0 {
			s.deed = one.deed
			break
		}
	}
	if calm && (s.deed == killing || s.deed == leaving) {
		s.deed = saying
	}
	return s
}
