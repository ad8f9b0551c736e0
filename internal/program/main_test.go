// Package program tests Familiar as a whole: the real program in a process of its own, real agents, a real
// browser, and a scripted model server where a model would be.
package program

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"familiar/internal/agent/script"
	"familiar/internal/cli"
)

// asProgram makes this test's executable be the program.
const asProgram = "FAMILIAR_TEST_PROGRAM"

func TestMain(m *testing.M) {
	script.Main()
	if os.Getenv(asProgram) != "" || isSkill(os.Args) {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// isSkill reports whether an agent calls us by our name: it has an environment of its own, without asProgram.
func isSkill(args []string) bool { return len(args) > 1 && args[1] == "skill" }
