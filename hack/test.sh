#!/bin/sh
# Compiles and tests the project. Packages that need no API server run side by side; those that start clusters run one after another, so
# that they do not disturb each other's times. Each package prints one line; failures come at the end, and the last line is go test's.
#
#	hack/test.sh unit     what needs no API server
#	hack/test.sh all      that, and a core of the end-to-end tests: under ten minutes on two cores
#	hack/test.sh full     every seed of every property, 200 traces of backfill and every end-to-end test: about three hours
#	hack/test.sh user     as the user nobody: process nodes, Slurm's steps, the runs in a real terminal, and the end-to-end tests that an
#	                      ordinary user can run (needs root)
#
# VC_E2E=all runs every end-to-end test, VC_SEEDS=full every seed. VC_REAL=1 runs the tests on real kubelets, too.
set -eu
cd "$(dirname "$0")/.."
what=${1:-all}
clusters='/test/(e2e|bench|install|parity|apiserver/differential)$|/internal/local$|/internal/local/(controlplane|processnode)$|/cmd/vc-local$'
timeout=60m
if [ "$what" = full ]; then
	export VC_E2E=all VC_SEEDS=full
	timeout=4h
fi

# testlog runs go test with a summary in place of its output.
testlog() { go run ./hack/testlog -vet=off ${TESTFLAGS:-} "$@"; }

# test_real runs the tests on real kubelets, at a low priority because they measure no times. Only `make real` kills, stops and drains
# leaders: that test takes minutes, and measures times that a busy machine lengthens.
test_real() {
	nice -n 10 go run ./hack/testlog -vet=off -count=1 -timeout 40m -skip TestTheOtherReplicaTakesOver ./test/real
}

# test_as_user runs tests as nobody with programs that root has built, because nobody has no build cache.
test_as_user() {
	programs=$(mktemp -d /tmp/vc-test-XXXXXX)
	trap 'rm -rf "$programs"' EXIT
	chmod 755 "$programs"
	hack/build.sh "$programs"
	code=0
	testlog -count=1 -p 1 -timeout 20m -exec "$PWD/hack/as-user.sh" ./internal/local/processnode/... ./internal/slurm/step/... ./test/terminal || code=$?
	VC_E2E=user VC_E2E_BIN=$programs testlog -count=1 -timeout 20m -exec "$PWD/hack/as-user.sh" ./test/e2e || code=$?
	return $code
}

if [ "$what" = user ]; then
	test_as_user
	exit
fi

hack/progress.sh "modules" downloaded go list -deps -test ./... >/dev/null
hack/progress.sh "compile" packages go build -v ./...
hack/progress.sh "vet" packages go vet ./...

code=0
testlog -timeout $timeout $(go list ./... | grep -E -v "$clusters${VC_REAL:+|/test/real$}") || code=$?
if [ "$what" != unit ]; then
	real=
	if [ -n "${VC_REAL:-}" ]; then
		# These tests mostly wait, so the other tests that start clusters run at the same time.
		real_output=$(mktemp)
		trap 'rm -f "$real_output"' EXIT
		test_real >"$real_output" 2>&1 &
		real=$!
	fi
	testlog -count=1 -p 1 -timeout $timeout $(go list ./... | grep -E "$clusters") || code=$?
	if [ -n "$real" ]; then
		wait $real || code=$?
		cat "$real_output"
	fi
	[ "${VC_E2E:-}" = all ] || echo "end to end: only the core; VC_E2E=all runs every test, make test-full every seed as well" >&2
fi
command -v tmux >/dev/null || echo "not tested: the runs in a real terminal, because tmux is missing (apt-get install tmux)" >&2
exit $code
