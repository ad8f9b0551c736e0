// The tools of `make check`, in a module of their own so that the product's go.mod stays lean.
module familiar/tools

go 1.26.0

tool honnef.co/go/tools/cmd/staticcheck

require (
	codeberg.org/polyfloyd/go-errorlint v1.9.1
	github.com/kisielk/errcheck v1.30.0
	github.com/nishanths/exhaustive v0.17.1
	github.com/timakin/bodyclose v0.0.0-20241222091800-1db5c5ca4d67
	go-simpler.org/sloglint v0.12.0
	golang.org/x/tools v0.52.0
	honnef.co/go/tools v0.8.2
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	github.com/ettle/strcase v0.2.0 // indirect
	github.com/gostaticanalysis/analysisutil v0.7.1 // indirect
	github.com/gostaticanalysis/comment v1.4.2 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)
