// Command scripted is the small agent of the bench: it plays the script of its environment.
package main

import "familiar/internal/agent/script"

func main() { script.Main() }
