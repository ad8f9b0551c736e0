// Command familiar lets AI agents live in people's chats.
package main

import (
	"os"

	"familiar/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
