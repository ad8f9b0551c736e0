// Lint is the small linter set of `make check`, as a tool for `go vet -vettool`. Every analyzer here must be
// green over the whole tree: one that is not worth that is taken out, not silenced.
package main

import (
	"log"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"github.com/nishanths/exhaustive/passes/exhaustive"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"go-simpler.org/sloglint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	// A default case says that the rest was thought of.
	set(exhaustive.Analyzer, "d", "true")
	set(exhaustive.Analyzer, "check", "switch")
	set(exhaustive.Analyzer, "typeonly", "^familiar/")
	logging := sloglint.New(&sloglint.Options{
		NoMixedArguments: true,
		NoGlobalLogger:   "all",
	})
	unitchecker.Main(
		bodyclose.Analyzer,
		errorlint.NewAnalyzer(),
		exhaustive.Analyzer,
		logging,
		unchecked,
	)
}

// set gives one flag of an analyzer another default.
func set(a *analysis.Analyzer, flag, value string) {
	if err := a.Flags.Set(flag, value); err != nil {
		log.Fatalf("%s: %v", a.Name, err)
	}
}
