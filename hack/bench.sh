#!/usr/bin/env bash
# Every speed and size with its floor; called by `make bench`. At the end one table.
# It ends with 0 where every floor is kept, or missed with an excuse that is still true (test/bench/figures, Excuses; the table says which).
#   LINE=TestBindPhase   only tests of that name (a regular expression)
#   GROWTH=1             what is measured on a cluster also at 500 and 2,000 nodes
#   KEEP=1               the figures are kept: docs/performance.csv, .svg and .md
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
what=1
[[ -n ${GROWTH:-} ]] && what=all
keep=()
[[ -n ${KEEP:-} ]] && keep=(-keep docs)
plot=$(mktemp -d)/plot
trap 'rm -rf "$(dirname "$plot")"' EXIT
"$go" build -o "$plot" ./test/bench/plot
measure() {
    local failed=0
    VC_BENCH=$what "$go" test -count=1 -timeout 20m -v -run "${LINE:-Floor}" ./internal/scheduler ./internal/scheduler/kube ./internal/accounting/store || failed=1
    VC_BENCH=$what "$go" test -count=1 -timeout 120m -v ${LINE:+-run "$LINE"} ./test/bench || failed=1
    return $failed
}
measure | "$plot" "${keep[@]}"
