#!/bin/sh
# Builds the programs into the directory $1 (bin), with a line of progress: a cold
# build compiles the whole API server and takes some minutes.
set -eu
cd "$(dirname "$0")/.."
bin=${1:-bin}
mkdir -p "$bin"
command -v go >/dev/null || { echo "error: go is not installed
hint:  install Go $(awk '/^go /{print $2}' go.mod) or later: https://go.dev/dl" >&2; exit 1; }

version=$(git describe --tags --always --dirty 2>/dev/null || echo unknown)
commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
# The commit's time, not the present: the same tree gives the same programs, and a second build has nothing to link.
built=$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null || echo unknown)
pkg=github.com/vc-batch/vc/internal/build
flags="-s -w -X $pkg.Version=$version -X $pkg.GitSHA=$commit -X $pkg.BuiltAt=$built"
programs="./cmd/vc-local ./cmd/vcd ./cmd/vcctl ./cmd/kubectl-vc ./cmd/vc-step ./examples/wordcount k8s.io/kubernetes/cmd/kubectl"

# Only packages that have to be compiled count: most are in the build cache.
stale='{{if .Stale}}{{if ne .StaleReason "not installed but available in build cache"}}{{.ImportPath}}{{end}}{{end}}'
hack/progress.sh "modules" downloaded sh -c "go list -deps -f '$stale' $programs | grep . >$bin/.stale || true"
total=$(wc -l <"$bin/.stale")
rm -f "$bin/.stale"
hack/progress.sh "build" "$total" go build -v -ldflags "$flags" -o "$bin/" $programs
hack/names.sh "$bin"
