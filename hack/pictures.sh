#!/bin/sh
# Draws the Grafana dashboards of deploy/monitoring with real data, as docs/monitoring-*.svg. It starts a cluster, the three
# components of vcd as in an installation, and Prometheus (apt-get install prometheus), runs jobs for four minutes, and
# records what the expressions of the dashboards return. Everything but the pictures is removed at the end.
set -eu
cd "$(dirname "$0")/.."
# PICTURES_BIN names a directory with programs that are built already.
bin=${PICTURES_BIN:-$PWD/bin}
seconds=240
for program in prometheus curl; do
	command -v $program >/dev/null || { echo "error: $program is not installed
hint:  apt-get install $program" >&2; exit 1; }
done
dir=$(mktemp -d)
pids=

stop() {
	kill $pids 2>/dev/null || true
	wait
	"$bin/vc-local" down --dir "$dir/cluster" --purge >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT TERM

# start NAME COMMAND...: runs a program in the background, with a log.
start() {
	log=$dir/$1.log
	shift
	"$@" >"$log" 2>&1 &
	pids="$pids $!"
}

# await SECONDS COMMAND...: waits until a command succeeds.
await() {
	left=$1
	shift
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || { echo "error: not within time: $*" >&2; tail -n 5 "$dir"/*.log >&2; exit 1; }
		sleep 1
	done
}

[ -n "${PICTURES_BIN:-}" ] || hack/build.sh "$bin"
go build -o "$dir/picture" ./deploy/monitoring/picture
PATH=$bin:$PATH

echo "A cluster with ten simulated nodes of 8 CPUs, and two nodes that run processes"
cat >"$dir/nodes.yaml" <<END
- {kind: simulated, count: 10, cpu: "8", memory: 32Gi, resources: {nvidia.com/gpu: "4"}}
- {kind: process, count: 2, cpu: "1", memory: 1Gi}
END
vc-local up --dir "$dir/cluster" --detach --components api --nodes-file "$dir/nodes.yaml" >/dev/null
export KUBECONFIG="$dir/cluster/kubeconfig"

# configuration ACTIONS: writes the scheduler's configuration file.
configuration() {
	cat >"$dir/conf.new" <<END
actions: "$1"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: pdb}]
- plugins: [{name: predicates}, {name: proportion}, {name: nodeorder}, {name: binpack}]
END
	mv "$dir/conf.new" "$dir/conf"
}
configuration "enqueue, allocate, backfill, reclaim, preempt"
port=18081
scrape=
for component in scheduler controllers admission; do
	case $component in
	scheduler) more="--leader-elect=false --scheduler-conf $dir/conf" ;;
	controllers) more="--leader-elect=false" ;;
	admission) more="--webhook-listen-address 127.0.0.1:0" ;;
	esac
	start $component vcd $component --listen-address 127.0.0.1:$port --enable-healthz=false $more
	scrape="$scrape
    - {targets: ['127.0.0.1:$port'], labels: {instance: vc-$component}}"
	port=$((port + 1))
done
cat >"$dir/prometheus.yaml" <<END
global: {scrape_interval: 1s}
scrape_configs:
- job_name: vc
  static_configs:$scrape
END
start prometheus prometheus --config.file "$dir/prometheus.yaml" --storage.tsdb.path "$dir/data" --web.listen-address 127.0.0.1:$port --log.level warn
for component in scheduler controllers admission; do
	await 90 grep -q "Component is ready" "$dir/$component.log"
done
await 60 curl -fs "http://127.0.0.1:$port/-/ready"

# job NAME QUEUE PODS CPUS RUNTIME [FAILURE RATE]: prints a gang of simulated pods. The variables PRIORITY, GPUS
# and LIMIT (seconds, or none) set further fields.
job() {
	limit="activeDeadlineSeconds: ${LIMIT:-120}"
	[ "${LIMIT:-}" != none ] || limit=
	cat <<END
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: $1}
spec:
  queue: $2
  minAvailable: $3
  priorityClassName: "${PRIORITY:-}"
  policies: [{event: PodEvicted, action: RestartJob}]
  tasks:
  - name: main
    replicas: $3
    template:
      metadata: {annotations: {vc-batch.dev/sim-run-time: $5, vc-batch.dev/sim-failure-rate: "${6:-0}"}}
      spec:
        restartPolicy: Never
        nodeSelector: {vc-batch.dev/node-kind: simulated}
        $limit
        containers:
        - {name: main, image: simulated, resources: {requests: {cpu: "$4", memory: ${4}Gi, nvidia.com/gpu: "${GPUS:-0}"}, limits: {nvidia.com/gpu: "${GPUS:-0}"}}}
END
}

# repeat_job COUNT NAME ARGUMENTS...: prints several jobs with numbered names.
repeat_job() {
	count=$1 name=$2
	shift 2
	for i in $(seq "$count"); do job "$name-$i" "$@"; done
}

submit() { vcctl job run -f - >/dev/null; }

# failing_flow NAME: prints a flow whose only job fails.
failing_flow() {
	cat <<END
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: $1}
spec: {jobRetainPolicy: delete, flows: [{name: fails}]}
END
}

# small_jobs submits a small job every five seconds. A tenth of the pods fail.
small_jobs() {
	i=0
	while sleep 5; do
		i=$((i + 1))
		job "small-$i" default 2 1 5s-15s 0.1 | submit 2>>"$dir/small.log" || true # the end interrupts it
	done
}

# word_count prints the job of make demo.
word_count() {
	printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wordcount-text}\ndata:\n  text.txt: |2\n"
	sed "s|^|    |" LICENSE
	echo "---"
	sed "s|@BIN@|$bin|" examples/wordcount/job.yaml
}

# at SECONDS TEXT: waits until that time after the start of the recording, and prints what happens then.
at() {
	pause=$(($1 - $(date +%s) + begin))
	[ "$pause" -le 0 ] || sleep "$pause"
	echo "$1 s: $2"
}

kubectl create priorityclass urgent --value 1000 >/dev/null
vcctl queue create research --weight 3 >/dev/null
vcctl queue create teaching --weight 1 >/dev/null
vcctl queue create nightly --weight 1 --capability cpu=8 >/dev/null
begin=$(date +%s)
small_jobs &
pids="$pids $!"

at 10 "queue teaching uses the idle cluster"
repeat_job 11 lesson teaching 4 2 60s-120s | submit
at 25 "the word count of make demo runs as processes"
word_count | submit
{ job fails default 1 1 2s 1 | sed 's/kind: Job$/kind: JobTemplate/; s|batch.volcano.sh/v1alpha1|flow.volcano.sh/v1alpha1|'; } | kubectl apply -f - >/dev/null
at 60 "queue research reclaims its share"
GPUS=1 LIMIT=100 repeat_job 5 train research 4 3 70s-90s | submit
for time in 70 76 82 88; do
	at $time "a JobFlow fails"
	failing_flow "flow-$time" | kubectl apply -f - >/dev/null
done
at 95 "queue nightly reaches its limit"
LIMIT=none repeat_job 6 report nightly 2 2 12s-15s | submit
at 105 "an urgent job preempts another job of its queue"
PRIORITY=urgent LIMIT=40 job urgent research 4 3 30s | submit
at 115 "another urgent job"
PRIORITY=urgent LIMIT=40 job asap research 4 3 30s | submit
at 130 "the configuration is invalid for 30 seconds"
configuration "enqueue, allocat"
at 150 "a large gang waits"
GPUS=1 LIMIT=60 job large research 10 3 20s | submit
at 160 "the configuration is valid again"
configuration "enqueue, allocate, backfill, reclaim, preempt"
at 180 "more jobs of queue teaching"
repeat_job 4 exam teaching 4 2 15s-20s | submit
at $seconds "the end"
"$dir/picture" -prometheus "http://127.0.0.1:$port" -last "${seconds}s"
