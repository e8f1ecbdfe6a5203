#!/bin/sh
# Makes the archives of the kubectl plugin and krew's manifest for them:
#
#	hack/krew.sh VERSION [OUT (bin/krew) [PLATFORM…]]     VERSION as v1.2.3, PLATFORM as linux/amd64
#
# kubectl krew install --manifest=OUT/volcano.yaml --archive=OUT/kubectl-vc_linux_amd64.tar.gz tries one here.
set -eu
cd "$(dirname "$0")/.."
version=${1:?usage: hack/krew.sh VERSION [OUT [PLATFORM...]]}
out=${2:-bin/krew}
[ $# -lt 2 ] && shift 1 || shift 2
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

mkdir -p "$out"
for platform in "$@"; do
	os=${platform%/*} arch=${platform#*/} program=kubectl-vc
	[ "$os" = windows ] && program=kubectl-vc.exe
	work=$(mktemp -d)
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags "-s -w -X github.com/vc-batch/vc/internal/build.Version=$version" -o "$work/$program" ./cmd/kubectl-vc
	cp LICENSE "$work/"
	tar -C "$work" -czf "$out/kubectl-vc_${os}_$arch.tar.gz" "$program" LICENSE
	rm -rf "$work"
done

# What krew-release-bot would fill in: the version, and address and checksum of each archive that there is.
awk -v version="$version" -v out="$out" '
	/addURIAndSha/ {
		match($0, /https:[^"]*/)
		uri = substr($0, RSTART, RLENGTH)
		gsub(/\{\{ \.TagName \}\}/, version, uri)
		file = uri; sub(/.*\//, "", file)
		sum = ""
		command = "sha256sum " out "/" file " 2>/dev/null"
		if ((command | getline line) > 0) { split(line, words, " "); sum = words[1] }
		close(command)
		if (sum == "") { skip = 1; held = ""; next }
		print held; held = ""
		print "    uri: " uri
		print "    sha256: " sum
		next
	}
	/^  - selector:/ { skip = 0; held = $0; next }
	skip { next }
	{ gsub(/\{\{ \.TagName \}\}/, version); print }
' deploy/krew.yaml >"$out/volcano.yaml"
echo "$out/volcano.yaml"
