# The tasks of this project by name; `make help` lists them.
# CI runs the same targets, so a failed check can be repeated under its name.

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
.PHONY: help build images install docs demo demo-down test test-full test-user test-unit test-race scenarios e2e real chaos sim mutate bench pictures fuzz prose lint generate verify vulncheck clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the programs into bin/
	@hack/build.sh $(BIN)

images: ## build the container images for amd64 and arm64 into bin/images; VERSION=v0.1.0 sets the version, IMAGES="vcd" selects some
	@GO="$(GO)" hack/images.sh $(BIN)/images $(IMAGES)

install: $(if $(UNINSTALL),,build docs) ## install the command line, its completion and its man pages below PREFIX (/usr/local); UNINSTALL=1 removes them
	@hack/install.sh $(BIN) $(PREFIX)

docs: ## write docs/reference and the man pages (bin/man1) from the help texts
	@$(GO) run ./test/reference/write docs/reference $(BIN)/man1

demo: ## start a real cluster on this machine, run a distributed job on it, and show the result
	@hack/demo.sh up

demo-down: ## stop the demo's cluster and remove everything that it created
	@hack/demo.sh down

test: ## run what every change must pass: unit tests, stories, and the core of the end-to-end tests (10 minutes on two cores)
	@hack/test.sh all

test-full: ## run every seed of every property, 200 backfill traces, and every end-to-end test (about three hours)
	@hack/test.sh full

test-user: ## test process nodes, steps, terminals and the core of the end-to-end tests as user nobody (needs root)
	@hack/test.sh user

test-unit: ## run the tests that need no API server
	@hack/test.sh unit

test-race: ## run the same tests with the race detector
	@CGO_ENABLED=1 TESTFLAGS=-race hack/test.sh unit

scenarios: ## run the scheduler's stories; REWRITE=1 writes their outcomes
	@$(GO) test ./test/scenarios/... $(if $(REWRITE),-rewrite)

e2e: ## run the seeds' scenarios with real processes on a real API server
	@VC_E2E=all $(GO) test -count=1 -timeout 60m -v ./test/e2e/...

real: ## run vc in containers on three real kubelets, as root; TESTS=Upgrade selects tests, ROUNDS=20 repeats the faults of leaders
	@VC_REAL=1 $(GO) test -count=1 -timeout 150m -v ./test/real $(if $(TESTS),-run '$(TESTS)') $(if $(ROUNDS),-real.rounds $(ROUNDS))

chaos: ## kill, freeze and disconnect real processes for TIME (3m), chosen by SEED (default: the clock), and check the invariants
	@echo "chaos: SEED=$(SEED) TIME=$(TIME)"
	@$(GO) test ./test/e2e -count=1 -v -timeout 60m -run '^TestChaos$$' -chaos.seed=$(SEED) -chaos.time=$(TIME)

sim: ## simulate the whole system under faults with SEEDS seeds (10000), starting with FIRST (1)
	@$(GO) test ./test/sim -count=1 -v -timeout 60m -run '^TestSeeds$$' -seeds $(or $(SEEDS),10000) -first $(or $(FIRST),1)

mutate: ## make COUNT (300) small changes to PACKAGE (the parts that the simulator drives), and list those that no test and no simulated seed notices
	@$(GO) run ./test/mutate -count $(or $(COUNT),300) $(if $(filter command,$(firstword $(origin SEED))),-seed $(SEED)) $(if $(FILES),-files '$(FILES)') $(if $(RESULTS),-results '$(RESULTS)') \
		$(or $(PACKAGE),./internal/scheduler/... ./internal/outbox/... ./internal/controllers/... ./internal/admission/...)

bench: ## measure speeds and sizes, and compare them with their floors; LINE=TestBindPhase selects one, GROWTH=1 adds larger clusters, KEEP=1 writes docs
	@GO="$(GO)" LINE="$(LINE)" GROWTH="$(GROWTH)" KEEP="$(KEEP)" hack/bench.sh

pictures: ## run jobs on a local cluster for four minutes, and draw the Grafana dashboards with their data into docs (needs prometheus)
	@hack/pictures.sh

fuzz: ## run every fuzz test for FUZZTIME (10s)
	@hack/fuzz.sh $(FUZZTIME)

prose: ## measure how the source reads: wording of comments, dense conditions, short names; go run ./hack/prose -list names the lines
	@$(GO) run ./hack/prose api cmd internal plugin hack

lint: ## run golangci-lint with .golangci.yml (building it the first time takes minutes)
	@$(TOOL) golangci-lint run ./...

generate: ## write the CRDs, the deep copies, deploy/install.yaml and deploy/charts
	@hack/generate.sh

verify: generate ## check that generated files, formatting and go.mod are up to date
	@git diff --exit-code -- api deploy docs
	@test -z "$$(gofmt -l api cmd deploy examples internal test)" || { gofmt -l api cmd deploy examples internal test; exit 1; }
	@$(GO) mod tidy -diff

vulncheck: ## list known vulnerabilities in called functions (queries the online database)
	@$(TOOL) govulncheck ./...

clean: ## remove bin/
	@rm -rf $(BIN)
