#!/bin/sh
# Compiles the packages with a line of progress, then tests them: first those that
# need no API server, side by side; then those that start clusters, one after
# another, so that they do not disturb each other's times. The last lines are go
# test's own.
#
#	hack/test.sh unit|all
set -eu
cd "$(dirname "$0")/.."
what=${1:-all}
heavy='/test/(e2e|bench|install)$|/internal/local$|/internal/local/(controlplane|processnode)$|/cmd/vc-local$'

hack/progress.sh "modules" downloaded go list -deps -test ./... >/dev/null
hack/progress.sh "compile" packages go build -v ./...
hack/progress.sh "vet" packages go vet ./...

code=0
go run ./hack/testlog -vet=off -timeout 30m ${TESTFLAGS:-} $(go list ./... | grep -E -v "$heavy") || code=$?
if [ "$what" = all ]; then
	go run ./hack/testlog -vet=off -count=1 -p 1 -timeout 40m ${TESTFLAGS:-} $(go list ./... | grep -E "$heavy") || code=$?
fi
command -v tmux >/dev/null || echo "not tested: the runs in a real terminal, because tmux is not here (apt-get install tmux); CI has it and does not do without" >&2
exit $code
