package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// framework reads a manifest of examples/frameworks.
func framework(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "examples", "frameworks", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// inside runs a shell line in a running pod.
func (c *cluster) inside(pod, line string) string {
	c.t.Helper()
	return c.kubectl("exec", pod, "--", "sh", "-c", line)
}

// TestJobPluginsInsideRunningPods checks that the processes for which the plugins' data is meant can read it. All jobs
// run at the same time.
func TestJobPluginsInsideRunningPods(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: pods with addresses and host names of their own need root")
	}
	c := startCluster(t, "--process-nodes", "1", "--node-cpu", "64", "--node-memory", "64Gi")
	stories := []struct {
		name  string
		needs []string
		start func(*testing.T, *cluster)
		check func(*testing.T, *cluster)
	}{
		{"svc, ssh, env and hcclrank", nil, startPlain, checkPlain},
		{"tensorflow", []string{"python3"}, startTensorFlow, checkTensorFlow},
		{"pytorch", []string{"python3"}, startPyTorch, checkPyTorch},
		{"ray", []string{"bash", "python3"}, startRay, checkRay},
		{"mpi", []string{"/usr/sbin/sshd", "mpiexec"}, startMPI, checkMPI},
		{"mpi on another port, as another user's keys", []string{"/usr/sbin/sshd", "mpiexec"}, startMPIElsewhere, checkMPIElsewhere},
	}
	missing := func(needs []string) string {
		for _, need := range needs {
			if _, err := exec.LookPath(need); err != nil {
				return need
			}
		}
		return ""
	}
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			if need := missing(s.needs); need != "" {
				t.Skipf("SKIPPED: %s is not installed", need)
			}
			outer := c.t
			c.t = t
			defer func() { c.t = outer }()
			s.start(t, c)
			s.check(t, c)
		})
	}
}

func startPlain(_ *testing.T, c *cluster) {
	c.create(`apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: plain, namespace: default}
spec:
  schedulerName: volcano
  plugins: {svc: [], ssh: [], env: [], hcclrank: ["--worker=big-worker"]}
  policies: [{event: PodEvicted, action: RestartPod}]
  tasks:
  - name: master
    replicas: 1
    template: &pod
      spec:
        restartPolicy: Never
        terminationGracePeriodSeconds: 1
        initContainers:
        - {name: before, image: none:local, command: [sh, -c, 'test "$VC_MASTER_NUM" = 1 && test -r /etc/volcano/master.host && test -r /root/.ssh/id_rsa']}
        containers:
        - name: main
          image: none:local
          command: [sh, -c, exec sleep 600]
          env: [{name: MY_RANK, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['hccl/rankIndex']"}}}]
  - name: big-worker
    replicas: 2
    template: *pod
`)
}

// dump is a shell script that prints everything that a pod can read about its job.
const dump = `hostname
env | grep -E '^(VC_|VK_|MY_RANK)' | sort
cd /etc/volcano && for f in *; do echo "$f:"; cat "$f"; echo; done
cd /root/.ssh && ls && stat -L -c '%a %n' id_rsa && cat config`

func checkPlain(t *testing.T, c *cluster) {
	c.running("plain", 3, 60*time.Second)
	want := `plain-big-worker-1
MY_RANK=2
VC_BIG_WORKER_HOSTS=plain-big-worker-0.plain,plain-big-worker-1.plain
VC_BIG_WORKER_NUM=2
VC_MASTER_HOSTS=plain-master-0.plain
VC_MASTER_NUM=1
VC_TASK_INDEX=1
VK_TASK_INDEX=1
VC_BIG_WORKER_HOSTS:
plain-big-worker-0.plain,plain-big-worker-1.plain
VC_BIG_WORKER_NUM:
2
VC_MASTER_HOSTS:
plain-master-0.plain
VC_MASTER_NUM:
1
big_worker.host:
plain-big-worker-0.plain
plain-big-worker-1.plain
master.host:
plain-master-0.plain
authorized_keys
config
id_rsa
id_rsa.pub
600 id_rsa
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
Host plain-master-0
  HostName plain-master-0.plain
  Port 22
Host plain-big-worker-0
  HostName plain-big-worker-0.plain
  Port 22
Host plain-big-worker-1
  HostName plain-big-worker-1.plain
  Port 22
`
	if got := c.inside("plain-big-worker-1", dump); got != want {
		t.Errorf("in the pod:\n%s\nwant:\n%s", got, want)
	}
	key := c.inside("plain-master-0", "cat /root/.ssh/id_rsa")
	resources, err := json.Marshal(c.job("plain").Status.ControlledResources) // an ended job has no such resources
	if err == nil {
		err = containsAll(string(resources), `"plugin-ssh":"ssh"`, `"plugin-svc":"svc"`, `"plugin-env":"env"`)
	}
	if err != nil {
		t.Error(err)
	}

	// A re-created pod has the same keys and names.
	c.kubectl("delete", "pod", "plain-big-worker-0", "--wait=false")
	var back corev1.Pod
	c.eventually(60*time.Second, "the pod is back", func() error {
		if err := c.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "plain-big-worker-0"}, &back); err != nil {
			return err
		}
		if back.DeletionTimestamp != nil || back.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("it is %s", back.Status.Phase)
		}
		return nil
	})
	if got := c.inside("plain-big-worker-0", "cat /root/.ssh/id_rsa; hostname"); got != key+"plain-big-worker-0\n" {
		t.Error("the pod that came back has other keys, or another name")
	}

	// An added pod is known to the running pods by name, and can be reached by ssh.
	c.kubectl("patch", "job.batch.volcano.sh", "plain", "--type=json", "-p", `[{"op":"replace","path":"/spec/tasks/1/replicas","value":3}]`)
	c.running("plain", 4, 60*time.Second)
	c.eventually(120*time.Second, "the hosts of a running pod name the new one", func() error {
		return containsAll(c.inside("plain-master-0", "cat /etc/volcano/big_worker.host; getent hosts plain-big-worker-2.plain"),
			"plain-big-worker-1.plain\nplain-big-worker-2.plain", "plain-big-worker-2.plain")
	})
	if err := containsAll(c.inside("plain-big-worker-2", "cat /root/.ssh/config /root/.ssh/id_rsa; env"),
		"Host plain-big-worker-2\n  HostName plain-big-worker-2.plain\n", key, "VC_BIG_WORKER_NUM=3", "MY_RANK=3"); err != nil {
		t.Error(err)
	}
}

func startTensorFlow(t *testing.T, c *cluster) { c.create(framework(t, "tensorflow")) }

func checkTensorFlow(_ *testing.T, c *cluster) {
	c.running("tensorflow", 3, 60*time.Second)
	c.eventually(60*time.Second, "all have met", func() error {
		for _, pod := range []string{"ps-0", "worker-0", "worker-1"} {
			role, index, _ := strings.Cut(pod, "-")
			if err := containsAll(c.logs("default", "tensorflow-"+pod),
				role+" "+index+" reached tensorflow-ps-0.tensorflow:2222 tensorflow-worker-0.tensorflow:2222 tensorflow-worker-1.tensorflow:2222"); err != nil {
				return err
			}
		}
		return nil
	})
	c.jobPhase("tensorflow", batchv1alpha1.Completed, 60*time.Second)
}

func startPyTorch(t *testing.T, c *cluster) { c.create(framework(t, "pytorch")) }

func checkPyTorch(t *testing.T, c *cluster) {
	c.jobPhase("pytorch", batchv1alpha1.Completed, 90*time.Second)
	if err := containsAll(c.logs("default", "pytorch-master-0"), "rank 0 met ranks [0, 1, 2] of 3"); err != nil {
		t.Error(err)
	}
}

// rayStandIn replaces the program ray. It prints its arguments. As the head, it listens, and as a worker, it prints
// whether it reaches the head.
const rayStandIn = `#!/bin/bash
echo "ray $*"
case " $* " in
*" --head "*)
  port=$(sed 's/.*--port=\([0-9]*\).*/\1/' <<<"$*")
  exec python3 -c "import socket, sys
s = socket.create_server(('', int(sys.argv[1])))
while True:
    s.accept()[0].close()" "$port" ;;
*)
  at=$(sed 's/.*--address=\([^ ]*\).*/\1/' <<<"$*")
  until timeout 2 bash -c ": > /dev/tcp/${at%:*}/${at#*:}" 2>/dev/null; do sleep 0.2; done
  echo "joined $at"
  exec sleep 600 ;;
esac
`

func startRay(t *testing.T, c *cluster) {
	dir, err := os.MkdirTemp("", "vc-ray") // the cluster's own directory is hidden from pods
	if err != nil {
		t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "ray"), []byte(rayStandIn), 0o755); err != nil {
		t.Fatal(err)
	}
	manifest := framework(t, "ray")
	const image = "image: rayproject/ray:latest"
	if strings.Count(manifest, image) != 2 {
		t.Fatalf("the manifest has no two %q", image)
	}
	c.create(strings.ReplaceAll(manifest, image, fmt.Sprintf("image: none:local\n              env: [{name: PATH, value: %q}]", dir+":"+os.Getenv("PATH"))))
}

func checkRay(t *testing.T, c *cluster) {
	pods := c.running("ray", 3, 60*time.Second)
	c.eventually(60*time.Second, "the workers join the head", func() error {
		for _, pod := range []string{"ray-worker-0", "ray-worker-1"} {
			if err := containsAll(c.logs("default", pod), "ray start --block --address=ray-head-0.ray:6379\n", "joined ray-head-0.ray:6379"); err != nil {
				return err
			}
		}
		return nil
	})
	if err := containsAll(c.logs("default", "ray-head-0"),
		"ray start --head --block --dashboard-host=0.0.0.0 --port=6379 --dashboard-port=8265 --ray-client-server-port=10001\n"); err != nil {
		t.Error(err)
	}
	ports := map[int32]bool{}
	for _, p := range pods["ray-head-0"].Spec.Containers[0].Ports {
		ports[p.ContainerPort] = true
	}
	if !ports[6379] || !ports[8265] || !ports[10001] {
		t.Errorf("the head's ports are %v", ports)
	}
	c.eventually(30*time.Second, "the Service leads to the head, and to nobody else", func() error {
		var slices discoveryv1.EndpointSliceList
		if err := c.List(context.Background(), &slices, client.InNamespace("default"), client.MatchingLabels{discoveryv1.LabelServiceName: "ray-head-svc"}); err != nil {
			return err
		}
		var addresses []string
		for _, s := range slices.Items {
			for _, e := range s.Endpoints {
				addresses = append(addresses, e.Addresses...)
			}
		}
		if len(addresses) != 1 || addresses[0] != pods["ray-head-0"].Status.PodIP {
			return fmt.Errorf("it leads to %v, the head is %s", addresses, pods["ray-head-0"].Status.PodIP)
		}
		return nil
	})
}

func startMPI(t *testing.T, c *cluster) { c.create(framework(t, "mpi")) }

func checkMPI(t *testing.T, c *cluster) {
	c.jobPhase("mpi", batchv1alpha1.Completed, 120*time.Second)
	if err := containsAll(c.logs("default", "mpi-mpimaster-0"), "rank 0 of 2 on mpi-mpiworker-0", "rank 1 of 2 on mpi-mpiworker-1"); err != nil {
		t.Error(err)
	}
}

// startMPIElsewhere runs sshd on another port, with the keys in a directory other than root's home. Volcano reaches
// long names only on port 22.
func startMPIElsewhere(t *testing.T, c *cluster) {
	manifest := strings.NewReplacer(
		"name: mpi\n", "name: elsewhere\n",
		`"--port=22"]`, `"--port=2222"]`+"\n    ssh: [\"--ssh-port=2222\", \"--ssh-key-file-path=/home/mpi/.ssh\"]",
		"sshd -D -e", "sshd -D -e -p 2222 -o StrictModes=no -o AuthorizedKeysFile=/home/mpi/.ssh/authorized_keys",
		"mpiexec --allow-run-as-root", "ls -l /home/mpi/.ssh/; install -m 600 /home/mpi/.ssh/id_rsa /tmp/key; "+
			"mpiexec --allow-run-as-root --mca plm_rsh_args '-F /home/mpi/.ssh/config -i /tmp/key'",
	).Replace(framework(t, "mpi"))
	c.create(manifest)
}

func checkMPIElsewhere(t *testing.T, c *cluster) {
	c.jobPhase("elsewhere", batchv1alpha1.Completed, 120*time.Second)
	if err := containsAll(c.logs("default", "elsewhere-mpimaster-0"), "rank 0 of 2 on elsewhere-mpiworker-0", "rank 1 of 2 on elsewhere-mpiworker-1", "id_rsa"); err != nil {
		t.Error(err)
	}
}

// TestTwoThousandPodsWithNamesStart checks that the list of 2,000 hosts is in the file and in the environment of a real
// process.
func TestTwoThousandPodsWithNamesStart(t *testing.T) {
	c := startClusterAlone(t, "--process-nodes", "1", "--simulated-nodes", "100", "--node-cpu", "32", "--node-memory", "64Gi")
	manifest := job{name: "wide", min: 2001, plugins: "{svc: [], env: []}", tasks: []task{
		{name: "master", replicas: 1, cpu: "1", command: `wc -w < /etc/volcano/worker.host; echo "$VC_WORKER_HOSTS" | tr , '\n' | wc -l; exec sleep 600`},
		{name: "worker", replicas: 2000, cpu: "1", command: "true"},
	}}.String()
	for _, kind := range []string{"process", "simulated"} { // the master first, as in the manifest
		manifest = strings.Replace(manifest, "      spec:\n        restartPolicy", "      spec:\n        nodeSelector: {vc-batch.dev/node-kind: "+kind+"}\n        restartPolicy", 1)
	}
	began := time.Now()
	c.create(manifest)
	c.running("wide", 2001, 180*time.Second)
	t.Logf("2,001 pods run after %.1f s", time.Since(began).Seconds())
	var hosts corev1.ConfigMap
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "wide-svc"}, &hosts); err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, v := range hosts.Data {
		size += len(v)
	}
	t.Logf("the ConfigMap holds %d bytes", size)
	if got := c.logs("default", "wide-master-0"); strings.Join(strings.Fields(got), " ") != "2000 2000" {
		t.Errorf("the process sees %q", got)
	}
}
