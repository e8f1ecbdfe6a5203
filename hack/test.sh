#!/bin/sh
# Compiles the packages with a line of progress, then tests them. The last lines
# are go test's own.
set -eu
cd "$(dirname "$0")/.."
hack/progress.sh "modules" 0 go list -deps -test "$@" >/dev/null
hack/progress.sh "compile" 0 go build -v "$@"
hack/progress.sh "vet" 0 go vet "$@"
exec go test -vet=off -timeout 35m ${TESTFLAGS:-} "$@"
