package cli

import (
	"os"
	"testing"

	"familiar/internal/process"
)

func TestMain(m *testing.M) {
	process.Warden() // some commands start programs
	os.Exit(m.Run())
}
