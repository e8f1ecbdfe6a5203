# Everything one does with this project by name; `make help` lists it.
# CI runs the same names, so a red check is repeated by typing its name.

SHELL      := /bin/sh
# A clone that belongs to another user must build too: no version control stamps.
export GOFLAGS ?= -buildvcs=false
GO         ?= go
TOOL       := $(GO) tool -modfile=tools.mod
BIN        := bin
FUZZTIME   ?= 10s
PREFIX     ?= /usr/local
SEED       ?= $(shell date +%s)
TIME       ?= 3m

.DEFAULT_GOAL := help
.PHONY: help build install docs demo demo-down test test-full test-user test-unit test-race scenarios e2e chaos mutate bench fuzz prose lint generate verify vulncheck clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the programs, into bin/
	@hack/build.sh $(BIN)

install: $(if $(UNINSTALL),,build docs) ## the command line, its completion and man pages, below PREFIX (/usr/local); UNINSTALL=1 removes them
	@hack/install.sh $(BIN) $(PREFIX)

docs: ## docs/reference and the man pages (bin/man1), from the help texts
	@$(GO) run ./test/reference/write docs/reference $(BIN)/man1

demo: ## a real cluster on this machine, a distributed job on it, and its result
	@hack/demo.sh up

demo-down: ## stop the demo's cluster and remove all it left
	@hack/demo.sh down

test: ## what a change must pass: unit tests, stories, a core of the end-to-end tests (under 10 minutes on two cores)
	@hack/test.sh all

test-full: ## every seed of every property, 200 traces of backfill, every end-to-end test (about three hours)
	@hack/test.sh full

test-user: ## as the user nobody: process nodes, steps, terminals and the core of the end-to-end tests (needs root)
	@hack/test.sh user

test-unit: ## what needs no API server
	@hack/test.sh unit

test-race: ## the same under the race detector
	@CGO_ENABLED=1 TESTFLAGS=-race hack/test.sh unit

scenarios: ## the scheduler's stories as text; make scenarios REWRITE=1 writes their outcomes anew
	@$(GO) test ./test/scenarios/... $(if $(REWRITE),-rewrite)

e2e: ## the seeds' scenarios with real processes on a real API server
	@VC_E2E=all $(GO) test -count=1 -timeout 60m -v ./test/e2e/...

chaos: ## real processes are killed, frozen and cut off for TIME (3m) by the plan of SEED (the clock's), and what must always hold is checked
	@echo "chaos: SEED=$(SEED) TIME=$(TIME)"
	@$(GO) test ./test/e2e -count=1 -v -timeout 60m -run '^TestChaos$$' -chaos.seed=$(SEED) -chaos.time=$(TIME)

mutate: ## change PACKAGE (and FILES of it) in small ways for TIME (3m), SEED draws which, and list the changes that its tests do not notice
	@$(GO) run ./test/mutate -time $(TIME) -seed $(SEED) $(if $(FILES),-files '$(FILES)') $(PACKAGE)

bench: ## every speed and size with its floor, and one table; LINE=TestBindPhase takes one, GROWTH=1 more nodes, KEEP=1 writes docs
	@GO="$(GO)" LINE="$(LINE)" GROWTH="$(GROWTH)" KEEP="$(KEEP)" hack/bench.sh

fuzz: ## every fuzz test for FUZZTIME (10s)
	@hack/fuzz.sh $(FUZZTIME)

prose: ## how the source reads: habits of speech in comments, dense conditions, short names; go run ./hack/prose -list names the lines
	@$(GO) run ./hack/prose api cmd internal plugin hack

lint: ## golangci-lint, as .golangci.yml says (a cold build of it takes minutes)
	@$(TOOL) golangci-lint run ./...

generate: ## CRDs, deep copies, deploy/install.yaml
	@hack/generate.sh

verify: generate ## generated files, formatting and go.mod are as they would be made anew
	@git diff --exit-code -- api deploy docs
	@test -z "$$(gofmt -l api cmd deploy examples internal test)" || { gofmt -l api cmd deploy examples internal test; exit 1; }
	@$(GO) mod tidy -diff

vulncheck: ## known vulnerabilities in what is called (asks the online database)
	@$(TOOL) govulncheck ./...

clean: ## remove what build made
	@rm -rf $(BIN)
