#!/bin/sh
# Builds the container images, with the version, the commit and the time of git:
#
#	hack/images.sh OUT [flag...] [IMAGE...]        go run ./deploy/images -help lists the flags and images
#
# VERSION=v0.1.0 replaces the version. No container engine is needed.
set -eu
cd "$(dirname "$0")/.."
out=${1:?usage: hack/images.sh OUT [flag...] [IMAGE...]}
shift
command -v "${GO:-go}" >/dev/null || { echo "error: go is not installed
hint:  install Go $(awk '/^go /{print $2}' go.mod) or later: https://go.dev/dl" >&2; exit 1; }
described=$(hack/version.sh)
eval "$described"
if [ "$built" = unknown ]; then
	echo "error: this directory is not a git repository, so the images would have no time and no commit" >&2
	echo "hint:  build in a clone of the repository" >&2
	exit 1
fi
exec "${GO:-go}" run ./deploy/images -out "$out" -version "$version" -commit "$commit" -created "$built" -ldflags "$flags" "$@"
