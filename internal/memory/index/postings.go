package index

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// segmentSize is how many entries one segment holds at the most: a set of them is 8 KiB.
const segmentSize = 64 << 10

// ErrBroken says that what lies in the index cannot be: it is to be built anew.
var ErrBroken = errors.New("the index is broken")

// The forms of a set on the disk, told by its first byte.
const (
	asSteps = 0 // the distances from one entry to the next, as varints
	asBits  = 1 // one bit for each entry of the segment
)

// steps collects the entries of one term while a segment is built.
type steps struct {
	next int // one above the last that was added
	list []byte
}

// add takes in an entry. Entries come in order, the same one more than once.
func (s *steps) add(entry int) {
	if entry < s.next {
		return
	}
	s.list = binary.AppendUvarint(s.list, uint64(entry-s.next)) //nolint:gosec // entry is not below next
	s.next = entry + 1
}

// pack returns the set as it is written, in the shorter form.
func (s *steps) pack(entries int) []byte {
	if len(s.list) <= (entries+7)/8 {
		return append([]byte{asSteps}, s.list...)
	}
	packed := make([]byte, 1+(entries+7)/8)
	packed[0] = asBits
	_ = walk(s.list, func(entry int) { packed[1+entry/8] |= 1 << (entry % 8) })
	return packed
}

func walk(list []byte, visit func(entry int)) error {
	for at := 0; len(list) > 0; {
		step, n := binary.Uvarint(list)
		if n <= 0 || step >= segmentSize {
			return ErrBroken
		}
		list = list[n:]
		if at += int(step); at >= segmentSize {
			return ErrBroken
		}
		visit(at)
		at++
	}
	return nil
}

// set is a set of the entries of one segment.
type set [segmentSize / 64]uint64

// add puts a set from the disk in.
func (s *set) add(packed []byte) error {
	if len(packed) == 0 || len(packed) > 1+segmentSize {
		return ErrBroken
	}
	form, rest := packed[0], packed[1:]
	switch {
	case form == asSteps:
		return walk(rest, s.put)
	case form == asBits && len(rest) <= segmentSize/8:
		var word [8]byte
		for i := 0; i < len(rest); i += 8 {
			word = [8]byte{}
			copy(word[:], rest[i:])
			s[i/8] |= binary.LittleEndian.Uint64(word[:])
		}
		return nil
	}
	return ErrBroken
}

// meet keeps what is also in a set from the disk, and reports whether that is anything.
func (s *set) meet(packed []byte) (left bool, err error) {
	if len(packed) == 0 || packed[0] != asBits || len(packed) != 1+segmentSize/8 {
		var other set
		if err := other.add(packed); err != nil {
			return false, err
		}
		return s.and(&other), nil
	}
	var any uint64
	for i := range s {
		s[i] &= binary.LittleEndian.Uint64(packed[1+8*i:])
		any |= s[i]
	}
	return any != 0, nil
}

func (s *set) put(entry int)      { s[entry/64] |= 1 << (entry % 64) }
func (s *set) has(entry int) bool { return s[entry/64]>>(entry%64)&1 == 1 }

// and keeps what is also in o, and reports whether that is anything; nil is the empty set.
func (s *set) and(o *set) (left bool) {
	if o == nil {
		*s = set{}
		return false
	}
	var any uint64
	for i := range s {
		s[i] &= o[i]
		any |= s[i]
	}
	return any != 0
}

// less takes out what is in o; nil is the empty set.
func (s *set) less(o *set) {
	if o == nil {
		return
	}
	for i := range s {
		s[i] &^= o[i]
	}
}

// or adds what is in o; nil is the empty set.
func (s *set) or(o *set) {
	if o == nil {
		return
	}
	for i := range s {
		s[i] |= o[i]
	}
}

// fill puts the entries from first up to, not including, end in.
func (s *set) fill(first, end int) {
	for entry := max(first, 0); entry < min(end, segmentSize); {
		if entry%64 == 0 && end-entry >= 64 {
			s[entry/64] = ^uint64(0)
			entry += 64
			continue
		}
		s.put(entry)
		entry++
	}
}

// backwards visits the entries, the last first, until visit says no.
func (s *set) backwards(visit func(entry int) bool) bool {
	for i := len(s) - 1; i >= 0; i-- {
		for word := s[i]; word != 0; {
			top := 63 - bits.LeadingZeros64(word)
			word &^= 1 << top
			if !visit(i*64 + top) {
				return false
			}
		}
	}
	return true
}
