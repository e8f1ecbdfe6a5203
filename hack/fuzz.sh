#!/bin/sh
# Runs every fuzz test of the project for the given time each, also after one has failed; the failed ones are listed at the end.
#
#	hack/fuzz.sh [TIME]        10s if omitted
#
# Minimizing an input is limited to 20 runs. By default, it takes up to a minute for each new input, and so most of TIME, and
# "go test" fails if TIME ends meanwhile.
set -eu
cd "$(dirname "$0")/.."
time=${1:-10s}
targets=$(grep -rn '^func Fuzz' --include='*_test.go' . | sed -n 's|^\(\./.*\)/[^/]*_test\.go:[0-9]*:func \(Fuzz[A-Za-z0-9_]*\)(.*|\1 \2|p' | sort -u)
total=$(echo "$targets" | wc -l)
count=0
failed=
while read -r dir name; do
	count=$((count + 1))
	echo "== $count of $total: $dir $name"
	go test "$dir" -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 20x </dev/null || failed="$failed
  go test $dir -run '^$' -fuzz '^$name\$' -fuzztime $time"
done <<END
$targets
END
echo "== internal/tui/screens TestRandomKeys, 100000 keys"
go test ./internal/tui/screens -run '^TestRandomKeys$' -steps 100000 -count=1 || failed="$failed
  go test ./internal/tui/screens -run '^TestRandomKeys\$' -steps 100000 -count=1"
if [ -n "$failed" ]; then
	echo "failed; the input that fails is stored below testdata/fuzz of its package:$failed" >&2
	exit 1
fi
echo "all $total fuzz tests passed, $time each"
