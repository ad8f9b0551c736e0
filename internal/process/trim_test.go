package process

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestUnwritten(t *testing.T) {
	maps := `00400000-01a3e000 r-xp 00000000 fe:00 132 /opt/familiar
01a3e000-03210000 r--p 0163e000 fe:00 132 /opt/familiar
03210000-03300000 rw-p 02e10000 fe:00 132 /opt/familiar
c000000000-c000400000 rw-p 00000000 00:00 0
7f00-7f10 r--p 00000000 fe:00 7 /opt/familiar.db
7f20-7f30 r--p 00000000 fe:00 7 /opt/familiar (deleted)
rubbish /opt/familiar
`
	want := []stretch{{0x400000, 0x1a3e000}, {0x1a3e000, 0x3210000}}
	if got := unwritten(strings.NewReader(maps), "/opt/familiar"); !slices.Equal(got, want) {
		t.Errorf("%x", got)
	}
}

var mapped = regexp.MustCompile(`RssFile:\s+(\d+) kB`)

// resident is how much of files is mapped now, in KiB.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(mapped.FindStringSubmatch(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What is given back comes again when it is needed: the program goes on as before.
func TestTrim(t *testing.T) {
	before := resident(t)
	if err := Trim(); err != nil {
		t.Fatal(err)
	}
	if after := resident(t); after >= before {
		t.Errorf("%d KiB before, %d after", before, after)
	}
	if got := fmt.Sprintf("%08.3f %v", 3.14159, map[string]int{"a": 1}); got != "0003.142 map[a:1]" {
		t.Error(got)
	}
}
