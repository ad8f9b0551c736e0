package main

import (
	"crypto/sha256"
	"time"
)

// work is a fixed piece of work for one processor. What it takes more than unit is what the machine was doing
// besides: it is the measure of how far a time of this run can be trusted.
type work struct {
	block  [16 << 10]byte
	blocks int
}

// unit is what the work takes on a machine that does nothing else.
const unit = time.Millisecond

// calibrate finds how much work fits into unit. The least of many tries is the undisturbed one.
func calibrate() *work {
	w := &work{blocks: 1}
	least := w.do()
	for range 2000 {
		least = min(least, w.do())
	}
	w.blocks = max(1, int(unit/max(least, 1)))
	return w
}

// do does the work and says how long that took.
func (w *work) do() time.Duration {
	began := time.Now()
	for range w.blocks {
		sum := sha256.Sum256(w.block[:])
		copy(w.block[:], sum[:])
	}
	return time.Since(began)
}
