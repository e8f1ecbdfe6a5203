#!/bin/sh
# Runs a program as the ordinary user nobody, with an empty home directory of its own that is removed afterwards.
# Root uses it to test what an ordinary user sees:
#
#	go test -exec hack/as-user.sh ./internal/local/processnode
#	hack/as-user.sh make demo
#
# The program is copied first, because go test keeps its binaries where only root can read them.
set -eu
[ "$(id -u)" -eq 0 ] || { echo "as-user.sh: only root can become another user; run the program itself" >&2; exit 2; }
command -v setpriv >/dev/null || { echo "as-user.sh: setpriv is missing (Debian: util-linux)" >&2; exit 2; }
home=$(mktemp -d /tmp/vc-user-XXXXXX)
trap 'rm -rf "$home"' EXIT
program=$1
shift
case $program in
*.test)
	cp "$program" "$home/program"
	program=$home/program
	;;
esac
mkdir "$home/tmp"
chown -R 65534:65534 "$home"
code=0
# A write to another user's terminal or file is refused; a pipe is not.
setpriv --reuid=65534 --regid=65534 --clear-groups \
	env HOME="$home" USER=nobody LOGNAME=nobody TMPDIR="$home/tmp" "$program" "$@" || code=$?
exit $code
