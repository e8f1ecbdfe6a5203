#!/bin/sh
# The demo: `hack/demo.sh up` builds, starts a cluster in .demo, runs a distributed
# word count on it and shows it; `hack/demo.sh down` removes all of that.
set -eu
cd "$(dirname "$0")/.."
# Tests set these variables to use another directory, existing programs, or another timeout.
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
		echo "error: cannot stop the cluster in $dir, because bin/vc-local is missing" >&2
		echo "hint:  run make build, and then make demo-down" >&2
		exit 1
	fi
	rm -rf "$dir"
	echo "removed the demo's cluster and $dir; bin/ is kept (make clean removes it)"
}

up() {
	if [ -z "${DEMO_BIN:-}" ]; then
		say "1. Build"
		hack/build.sh "$bin"
	fi
	PATH=$bin:$PATH
	export KUBECONFIG=$dir/kubeconfig

	say "2. Start a cluster on this machine"
	run vc-local up --dir "$dir" --process-nodes 2 --detach

	say "3. Run a distributed job: one master and $workers workers count the words of the file LICENSE"
	manifest >"$dir/wordcount.yaml"
	vcctl job delete -f "$dir/wordcount.yaml" --ignore-not-found >/dev/null
	run vcctl job run -f "$dir/wordcount.yaml" --wait --timeout "$timeout" || {
		explain >&2
		exit 1
	}

	say "4. Show the result"
	run vcctl job logs wordcount --task master-0 --prefix=false | tee "$dir/result"
	"$bin/wordcount" local -text LICENSE >"$dir/expected"
	if ! grep -v '^\$' "$dir/result" | tail -n "$(wc -l <"$dir/expected")" | cmp -s - "$dir/expected"; then
		echo "error: the result of the workers differs from the result of a single process, which is:" >&2
		cat "$dir/expected" >&2
		exit 1
	fi
	echo "(verified: a single process counts the same)"

	say "5. Show jobs, nodes and queues"
	run vcctl job list
	run vcctl top --once
	say "6. Continue"
	cat <<END
  export KUBECONFIG=$KUBECONFIG PATH=$bin:\$PATH
  vcctl job view wordcount    # the job, its tasks, its events
  vcctl top                   # the live dashboard; ? lists the keys, q quits
  kubectl get nodes,pods      # an ordinary cluster
  make demo-down              # remove all of this

For more, see "Next steps" in README.md, and docs/tutorial.md.
END
}

# explain shows why the job does not complete: its pods, their restarts, and their current and previous logs.
explain() {
	say "The job did not complete. Its state:"
	vcctl job view wordcount || true
	say "The logs of its pods"
	vcctl job logs wordcount --tail 10 || true
	say "The logs from before the last restart"
	vcctl job logs wordcount --tail 10 --previous || true
	echo
	echo "hint:  look for a pod with restarts, or for an error in a log above;"
	echo "       the cluster is still running: export KUBECONFIG=$KUBECONFIG; make demo-down removes it"
}

# manifest prints the job, with the directory of its program, and a ConfigMap with the text to count.
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
