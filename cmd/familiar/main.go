// Command familiar lets AI agents live in people's chats.
package main

import (
	"os"

	"familiar/internal/cli"
	"familiar/internal/process"
)

func main() {
	process.Warden() // does not return in a process that guards an agent
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
