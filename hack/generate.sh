#!/bin/sh
# Makes from package api: deepcopy functions, deploy/crds, deploy/install.yaml and deploy/charts. Called by `make generate`.
set -eu
cd "$(dirname "$0")/.."

raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT

go tool -modfile=tools.mod controller-gen object paths=./api/...
go tool -modfile=tools.mod controller-gen crd:generateEmbeddedObjectMeta=true paths=./api/... "output:crd:dir=$raw"

# Package deploy embeds what is about to be written; on a bare tree it must find something.
mkdir -p deploy/crds
[ -e deploy/install.yaml ] || : >deploy/install.yaml
go run ./deploy/generate "$raw" deploy
