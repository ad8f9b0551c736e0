package main

import (
	"encoding/binary"
	"os"
	"time"
)

// ledger is how much the database has written.
type ledger struct{ commits, frames uint32 }

// counters reads what the database counts for itself: the header of its write-ahead log's index (the file -shm)
// holds the number of transactions, and the number of pages in the log.
type counters struct{ file *os.File }

// Where the header holds them, as SQLite's format of the WAL index says.
const (
	atCommits = 8
	atFrames  = 16
)

func openCounters(database string) (*counters, error) {
	file, err := os.Open(database + "-shm") //nolint:gosec // in a directory that we made
	if err != nil {
		return nil, err
	}
	return &counters{file}, nil
}

func (c *counters) read() (ledger, error) {
	var head [24]byte
	_, err := c.file.ReadAt(head[:], 0)
	return ledger{binary.NativeEndian.Uint32(head[atCommits:]), binary.NativeEndian.Uint32(head[atFrames:])}, err
}

// frame is what the log takes for a page.
const frame = 4096 + 24

// disk is the disk alone: a file that is as long as the log becomes, written from front to back, again and again,
// with an fsync after each write.
type disk struct {
	file *os.File
	at   int64
	data []byte
}

const diskSize = 1024 * frame

func openDisk(path string) (*disk, error) {
	file, err := os.Create(path) //nolint:gosec // in a directory that we made
	if err != nil {
		return nil, err
	}
	d := &disk{file: file, data: make([]byte, diskSize)}
	for i := range d.data {
		d.data[i] = byte(i * 7)
	}
	if _, err := file.Write(d.data); err != nil {
		return nil, err
	}
	return d, file.Sync()
}

// write writes frames and waits for them, times times, and says how long that took.
func (d *disk) write(frames, times int) (time.Duration, error) {
	size := int64(min(max(frames, 1)*frame, diskSize))
	began := time.Now()
	for range times {
		if d.at+size > diskSize {
			d.at = 0
		}
		if _, err := d.file.WriteAt(d.data[:size], d.at); err != nil {
			return 0, err
		}
		if err := d.file.Sync(); err != nil {
			return 0, err
		}
		d.at += size
	}
	return time.Since(began), nil
}
