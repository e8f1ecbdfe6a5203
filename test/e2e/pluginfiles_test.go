package e2e

import (
	"strings"
	"testing"
	"time"
)

// told is a job whose pods only wait. reads contains shell lines to run in a pod, with the expected output.
type told struct {
	plugins       string
	first, others string // the names of the tasks; the task others has two pods
	reads         map[string][2]string
}

// environment prints the variables of these names.
func environment(pattern string) string { return "env | grep -E '^(" + pattern + ")=' | sort" }

var toldByPlugins = map[string]told{
	"svc-env": {plugins: "{svc: [], env: [], hcclrank: ['--worker=big-worker']}", first: "master", others: "big-worker", reads: map[string][2]string{
		"big-worker-1": {`hostname; ` + environment("V[CK]_.*") + `; cd /etc/volcano && for f in *; do echo "$f:"; cat "$f"; echo; done`, `svc-env-big-worker-1
VC_BIG_WORKER_HOSTS=svc-env-big-worker-0.svc-env,svc-env-big-worker-1.svc-env
VC_BIG_WORKER_NUM=2
VC_MASTER_HOSTS=svc-env-master-0.svc-env
VC_MASTER_NUM=1
VC_TASK_INDEX=1
VK_TASK_INDEX=1
VC_BIG_WORKER_HOSTS:
svc-env-big-worker-0.svc-env,svc-env-big-worker-1.svc-env
VC_BIG_WORKER_NUM:
2
VC_MASTER_HOSTS:
svc-env-master-0.svc-env
VC_MASTER_NUM:
1
big_worker.host:
svc-env-big-worker-0.svc-env
svc-env-big-worker-1.svc-env
master.host:
svc-env-master-0.svc-env
`},
		"master-0":     {`getent hosts svc-env-big-worker-0.svc-env | grep -o svc-env-big-worker-0.svc-env | head -1; env | grep RANK`, "svc-env-big-worker-0.svc-env\nMY_RANK=0\n"},
		"big-worker-0": {`echo "$MY_RANK"`, "1\n"},
	}},
	"ssh": {plugins: "{svc: [], ssh: ['--ssh-key-file-path=/tmp/keys', '--ssh-port=2222']}", first: "master", others: "worker", reads: map[string][2]string{
		"worker-0": {`cd /tmp/keys && ls && stat -L -c '%a %n' id_rsa && cat config && cmp id_rsa.pub authorized_keys && echo same`, `authorized_keys
config
id_rsa
id_rsa.pub
644 id_rsa
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
Host *.ssh
  HostName %h
  Port 2222
Host ssh-master-0
  HostName ssh-master-0.ssh
  Port 2222
Host ssh-worker-0
  HostName ssh-worker-0.ssh
  Port 2222
Host ssh-worker-1
  HostName ssh-worker-1.ssh
  Port 2222
same
`},
	}},
	"tensorflow": {plugins: "{tensorflow: ['--port=3333']}", first: "ps", others: "worker", reads: map[string][2]string{
		"worker-1": {environment("TF_CONFIG"), `TF_CONFIG={"cluster":{"ps":["tensorflow-ps-0.tensorflow:3333"],"worker":["tensorflow-worker-0.tensorflow:3333","tensorflow-worker-1.tensorflow:3333"]},"task":{"type":"worker","index":1}}` + "\n"},
	}},
	"pytorch": {plugins: "{pytorch: ['--port=4444']}", first: "master", others: "worker", reads: map[string][2]string{
		"master-0": {environment("MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK"), "MASTER_ADDR=pytorch-master-0.pytorch\nMASTER_PORT=4444\nRANK=0\nWORLD_SIZE=3\n"},
		"worker-1": {environment("MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK"), "MASTER_ADDR=pytorch-master-0.pytorch\nMASTER_PORT=4444\nRANK=2\nWORLD_SIZE=3\n"},
	}},
	"mpi": {plugins: "{mpi: [], ssh: ['--ssh-key-file-path=/tmp/keys']}", first: "master", others: "worker", reads: map[string][2]string{
		"master-0": {environment("MPI_HOST") + "; ls /tmp/keys/id_rsa", "MPI_HOST=mpi-worker-0.mpi,mpi-worker-1.mpi\n/tmp/keys/id_rsa\n"},
		"worker-0": {environment("MPI_HOST") + "; ls /tmp/keys/id_rsa", "/tmp/keys/id_rsa\n"},
	}},
}

// TestJobPluginsInsideThePodsOfAnybody reads the files and variables of the job plugins in running pods, with any
// privileges on this machine. Separate addresses and ports, which need root, and ray are tested by
// TestJobPluginsInsideRunningPods.
func TestJobPluginsInsideThePodsOfAnybody(t *testing.T) {
	c := startCluster(t, "--process-nodes", "1", "--node-cpu", "64", "--node-memory", "64Gi")
	for name, job := range toldByPlugins {
		c.create(sleeping(name, job))
	}
	for name, job := range toldByPlugins {
		t.Run(name, func(t *testing.T) {
			c := c.of(t)
			c.running(name, 3, 60*time.Second)
			for pod, read := range job.reads {
				if got := c.inside(name+"-"+pod, read[0]); got != read[1] {
					t.Errorf("in %s:\n%s\nwant:\n%s", pod, got, read[1])
				}
			}
		})
	}
}

// sleeping returns a job whose pods wait. A variable of each pod contains the annotation of plugin hcclrank.
func sleeping(name string, w told) string {
	const sleep = "exec sleep 600"
	manifest := job{name: name, min: 3, plugins: w.plugins, tasks: []task{{name: w.first, replicas: 1, command: sleep}, {name: w.others, replicas: 2, command: sleep}}}.String()
	return strings.ReplaceAll(manifest, "image: none:local", `image: none:local
          env: [{name: MY_RANK, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['hccl/rankIndex']"}}}]`)
}
