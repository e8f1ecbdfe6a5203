#!/bin/sh
# Runs every fuzz test of the project for the given time each.
set -eu
cd "$(dirname "$0")/.."
time=${1:-10s}
grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$dir"/*_test.go | sort -u | while read -r name; do
		echo "== $dir $name"
		go test "$dir" -run '^$' -fuzz "^$name\$" -fuzztime "$time" </dev/null
	done
done
echo "== internal/tui/screens TestRandomKeys, 100000 keys"
go test ./internal/tui/screens -run '^TestRandomKeys$' -steps 100000 -count=1
