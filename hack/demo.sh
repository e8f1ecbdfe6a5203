#!/bin/sh
# The demo: `hack/demo.sh up` builds, starts a cluster in .demo, runs a distributed
# word count on it and shows it; `hack/demo.sh down` removes all of that.
set -eu
cd "$(dirname "$0")/.."
# A test sets these: its own directory, programs that are built already, its patience.
dir=${DEMO_DIR:-$PWD/.demo}
bin=${DEMO_BIN:-$PWD/bin}
timeout=${DEMO_TIMEOUT:-3m}
workers=4

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

down() {
	if [ -x "$bin/vc-local" ]; then
		"$bin/vc-local" down --dir "$dir" --purge
	elif [ -e "$dir" ]; then
		echo "error: $dir exists, but bin/vc-local, which could stop what runs there, does not" >&2
		echo "hint:  make build, then make demo-down" >&2
		exit 1
	fi
	rm -rf "$dir"
	echo "the demo's cluster and everything in $dir are gone; bin/ stays (make clean removes it)"
}

up() {
	if [ -z "${DEMO_BIN:-}" ]; then
		say "1. Build"
		hack/build.sh "$bin"
	fi
	PATH=$bin:$PATH
	export KUBECONFIG=$dir/kubeconfig

	say "2. A cluster on this machine"
	run vc-local up --dir "$dir" --process-nodes 2 --detach

	say "3. A distributed job: one master, $workers workers, the words of the file LICENSE"
	manifest >"$dir/wordcount.yaml"
	vcctl job delete -f "$dir/wordcount.yaml" --ignore-not-found >/dev/null
	run vcctl job run -f "$dir/wordcount.yaml" --wait --timeout "$timeout" || {
		explain >&2
		exit 1
	}

	say "4. Its result"
	run vcctl job logs wordcount --task master-0 --prefix=false | tee "$dir/result"
	"$bin/wordcount" local -text LICENSE >"$dir/expected"
	if ! grep -v '^\$' "$dir/result" | tail -n "$(wc -l <"$dir/expected")" | cmp -s - "$dir/expected"; then
		echo "error: the workers counted something else than one process does:" >&2
		cat "$dir/expected" >&2
		exit 1
	fi
	echo "(the same as one process counts alone: checked)"

	say "5. What people look at"
	run vcctl job list
	run vcctl top --once
	say "6. How to go on"
	cat <<END
  export KUBECONFIG=$KUBECONFIG PATH=$bin:\$PATH
  vcctl job view wordcount    # the job, its tasks, its events
  vcctl top                   # everything live; ? lists the keys, q quits
  kubectl get nodes,pods      # an ordinary cluster
  make demo-down              # remove all of this

The README continues from here: "Next steps".
END
}

# explain shows why the job does not end: its pods, how often they were started again,
# and what they said, the time before too.
explain() {
	say "The job did not complete. How it stands:"
	vcctl job view wordcount || true
	say "What its pods said last"
	vcctl job logs wordcount --tail 10 || true
	say "What they said before they were started again"
	vcctl job logs wordcount --tail 10 --previous || true
	echo
	echo "hint:  look above for a pod with restarts or an error in its log;"
	echo "       the cluster still runs: export KUBECONFIG=$KUBECONFIG; make demo-down removes it"
}

# manifest is the job, with the directory of its program, and the text that it counts.
manifest() {
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wordcount-text}\ndata:\n  text.txt: |2\n"
	sed "s|^|    |" LICENSE
	echo "---"
	sed "s|@BIN@|$bin|" examples/wordcount/job.yaml
}

case ${1:-} in
up) up ;;
down) down ;;
*) echo "usage: hack/demo.sh up|down" >&2; exit 2 ;;
esac
