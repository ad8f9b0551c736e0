# Everything that a person or the CI job does here is one word. `make` alone lists the words.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

OPENCODE_BIN ?= $(CURDIR)/node_modules/.bin/opencode
export OPENCODE_BIN

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
TESTTIME ?= 25m
SOAK ?= 5m
SOAK_MESSAGES ?= 10000
FUZZTIME ?= 20s

.PHONY: help run build deps test check fmt vet lint shape crash soak agents chart bench fake fuzz golden clean

help: ## this list
	@grep -hE '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

run: ## run a bot; its page is the address after «ready»
	go build -o bin/run ./cmd/familiar && exec bin/run up

build: ## a small static binary in bin/familiar
	CGO_ENABLED=0 go build -trimpath -tags timetzdata -ldflags '-s -w -X familiar/internal/cli.version=$(VERSION)' -o bin/familiar ./cmd/familiar

deps: ## what the tests need: installed as root or in CI, otherwise named
	scripts/deps

test: deps ## every test, with the race detector
	go test -race -timeout $(TESTTIME) ./...

check: fmt vet lint shape test ## what CI runs: everything that we promise

fmt: ## no file that gofmt would change
	@files=$$(gofmt -s -l cmd internal tools); if [ -n "$$files" ]; then echo "gofmt -s -w these:"; echo "$$files"; exit 1; fi

vet: ## go vet
	go vet ./...

lint: bin/lint bin/staticcheck ## staticcheck and the small linter set
	go vet -vettool=bin/lint ./...
	bin/staticcheck ./...

shape: ## the shape of the tree: who may import what, sizes, documents
	go test ./internal/shape

crash: deps ## kill the program at 200 random points instead of 25, and twenty writers of a database at 1,000
	CRASH_POINTS=200 go test -count=1 -timeout 90m -run Crash ./...

soak: deps ## for SOAK (5m), messages, edits, recalls, stops and crashes; then SOAK_MESSAGES (10000) on both networks. SOAK_SEED repeats a plan
	SOAK=$(SOAK) SOAK_MESSAGES=$(SOAK_MESSAGES) SOAK_PEOPLE=500 go test -race -count=1 -v -timeout 24h -run '^TestSoak' ./internal/program

agents: ## the conversation with every agent that npm brings; prints the table of docs/agents.md
	scripts/agents

chart: ## ask Helm about deploy/chart; its tests need no Helm
	scripts/chart

bench: ## ready time, idle memory, size, event to prompt, against their budgets; then the Go benchmarks
	scripts/bench

fake: ## networks of our own, such as a Discord, for trying a bot out offline: what you type is said there
	go run ./internal/fake

fuzz: ## each fuzz target for FUZZTIME
	scripts/fuzz $(FUZZTIME)

golden: ## write the golden files anew; review the difference
	scripts/golden

clean: ## remove what was built here
	rm -rf bin

bin/lint: tools/go.mod tools/go.sum $(wildcard tools/lint/*.go)
	cd tools && go build -o ../$@ ./lint

bin/staticcheck: tools/go.mod tools/go.sum
	cd tools && go build -o ../$@ honnef.co/go/tools/cmd/staticcheck
