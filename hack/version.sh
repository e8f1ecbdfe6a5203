#!/bin/sh
# Prints the version, the commit and its time as assignments for a shell: eval "$(hack/version.sh)". The last one, flags, has the linker
# flags that put them into the programs. The environment variable VERSION replaces the version.
#
# The time is the commit's, not the present: the same tree gives the same programs, and a second build has nothing to link.
set -eu
cd "$(dirname "$0")/.."
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
built=$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null || echo unknown)
case $version in
*[!0-9A-Za-z._-]*)
	echo "error: the version \"$version\" has characters other than letters, digits, '.', '_' and '-'" >&2
	echo "hint:  rename the git tag, or set VERSION=v1.2.3" >&2
	exit 1
	;;
esac
pkg=github.com/vc-batch/vc/internal/build
cat <<END
version=$version
commit=$commit
built=$built
flags="-s -w -X $pkg.Version=$version -X $pkg.GitSHA=$commit -X $pkg.BuiltAt=$built"
END
