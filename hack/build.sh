#!/bin/sh
# Builds the programs into the directory $1 (bin), with a line of progress: a cold
# build compiles the whole API server and takes some minutes.
set -eu
cd "$(dirname "$0")/.."
bin=${1:-bin}
mkdir -p "$bin"
command -v go >/dev/null || { echo "error: go is not installed
hint:  install Go $(awk '/^go /{print $2}' go.mod) or later: https://go.dev/dl" >&2; exit 1; }

described=$(hack/version.sh)
eval "$described"
programs="./cmd/vc-local ./cmd/vcd ./cmd/vcctl ./cmd/kubectl-vc ./cmd/vc-step ./examples/wordcount k8s.io/kubernetes/cmd/kubectl"

# Only packages that have to be compiled count: most are in the build cache.
stale='{{if .Stale}}{{if ne .StaleReason "not installed but available in build cache"}}{{.ImportPath}}{{end}}{{end}}'
hack/progress.sh "modules" downloaded sh -c "go list -deps -f '$stale' $programs | grep . >$bin/.stale || true"
total=$(wc -l <"$bin/.stale")
rm -f "$bin/.stale"
hack/progress.sh "build" "$total" go build -v -ldflags "$flags" -o "$bin/" $programs
hack/names.sh "$bin"
