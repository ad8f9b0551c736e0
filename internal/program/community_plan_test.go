package program

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// What people want of the agent of a community, as it stands in their messages. How often each comes is in wishes.
const (
	plainly   = "plainly"   // a reply
	fondly    = "fondly"    // something is remembered, then a reply
	gladly    = "gladly"    // a reaction
	hintingly = "hintingly" // a reply at the second prompt only
	wordless  = "wordless"  // nothing, however often it is asked
	badly     = "badly"     // it fails
	fatally   = "fatally"   // its process dies
)

// wishes says how often each wish comes, of a hundred; what is left over is plain.
var wishes = []struct {
	wish  string
	share int
}{{fondly, 12}, {gladly, 8}, {hintingly, 8}, {wordless, 5}, {badly, 4}, {fatally, 3}}

// act is one message of a community, and what happens around it.
type act struct {
	crowd, who int
	alone      bool
	wish       string
	trouble    int // the way of harm that is done before it; -1 is none
	twice      bool
	murder     bool // an agent is killed after it
}

func (a act) String() string {
	return fmt.Sprintf("crowd %d person %d alone %t %s trouble %d twice %t murder %t", a.crowd, a.who, a.alone, a.wish, a.trouble, a.twice, a.murder)
}

// communityPlan makes the acts: one seed, one plan, whatever comes of it.
type communityPlan struct {
	rng    *rand.Rand
	people int // of each crowd
}

func newCommunityPlan(seed int64, people int) *communityPlan {
	return &communityPlan{rand.New(rand.NewPCG(uint64(seed), 1)), people}
}

func (p *communityPlan) next() act {
	a := act{crowd: p.rng.IntN(2), who: p.rng.IntN(p.people), alone: p.rng.IntN(2) == 0, wish: plainly, trouble: -1,
		twice: p.rng.IntN(10) == 0, murder: p.rng.IntN(60) == 0}
	at := p.rng.IntN(100)
	for _, w := range wishes {
		if at -= w.share; at < 0 {
			a.wish = w.wish
			break
		}
	}
	if way := p.rng.IntN(12 * troubles); way < troubles {
		a.trouble = way
	}
	return a
}

// One seed gives one plan, and everything comes in it.
func TestCommunityPlan(t *testing.T) {
	one, same, other := newCommunityPlan(7, 250), newCommunityPlan(7, 250), newCommunityPlan(8, 250)
	seen, differ := map[string]bool{}, false
	for range 2000 {
		a, b := one.next(), same.next()
		if a != b {
			t.Fatalf("one seed, two plans: %v, %v", a, b)
		}
		differ = differ || a != other.next()
		for _, what := range []string{a.wish, fmt.Sprint("trouble ", a.trouble), fmt.Sprint("twice ", a.twice), fmt.Sprint("murder ", a.murder),
			fmt.Sprint("crowd ", a.crowd), fmt.Sprint("alone ", a.alone)} {
			seen[what] = true
		}
	}
	if want := 1 + len(wishes) + 1 + troubles + 2*4; len(seen) != want || !differ {
		t.Fatalf("%d things of %d: %v; another seed differs: %v", len(seen), want, seen, differ)
	}
}
