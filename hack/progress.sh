#!/bin/sh
# Runs a command that prints one line a step on stderr (go build -v prints one a
# package), and says every few seconds how far it is: on a terminal in place, else
# a line every 15 seconds. Lines that are not steps are passed on when the command
# fails.
#
#	hack/progress.sh LABEL TOTAL command...        TOTAL may be a word for the steps, when their number is not known
set -u
label=$1 total=$2
shift 2
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
start=$(date +%s)
"$@" 2>"$log" &
work=$!
trap 'kill "$work" 2>/dev/null; rm -f "$log"; exit 130' INT TERM
say() {
	steps=$(wc -l <"$log")
	now=$(($(date +%s) - start))
	case $total in
	*[!0-9]*) ;;
	*) [ "$steps" -le "$total" ] || total=$steps ;; # programs that are only linked are steps, too
	esac
	case $total in *[!0-9]*) of=" $total, " ;; *) of=" of $total packages, " ;; esac
	if [ "$steps" -gt 0 ]; then what="$steps$of"; else what=; fi
	line="$label: ${what}$((now / 60))m$((now % 60))s"
	if [ -t 2 ]; then printf '\r\033[K%s' "$line" >&2; else printf '%s\n' "$line" >&2; fi
}
tick=0
while kill -0 "$work" 2>/dev/null; do
	sleep 0.5
	tick=$((tick + 1))
	if [ -t 2 ] || [ $((tick % 30)) -eq 0 ]; then say; fi
done
wait "$work"
code=$?
if [ "$code" -ne 0 ]; then
	[ -t 2 ] && printf '\r\033[K' >&2
	cat "$log" >&2
	echo "$label: failed" >&2
	exit "$code"
fi
say
[ -t 2 ] && echo >&2
exit 0
