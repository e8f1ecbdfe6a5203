package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// scenario reads a manifest of examples/scenarios, which come from the seed documents.
func scenario(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "examples", "scenarios", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func bigNode(t *testing.T) *cluster {
	t.Helper()
	return startCluster(t, "--process-nodes", "1", "--node-cpu", "16", "--node-memory", "16Gi")
}

func TestScenario08DistccAsItStands(t *testing.T) {
	c := bigNode(t)
	c.create(scenario(t, "distcc.yaml"))
	c.jobPhase("distcc", batchv1alpha1.Completed, 60*time.Second)

	var hosts []string
	for i := range 10 {
		hosts = append(hosts, fmt.Sprintf("distcc-worker-%d.distcc", i))
	}
	if got, want := strings.TrimSpace(c.logs("default", "distcc-master-0")), "hosts: "+strings.Join(hosts, " "); got != want {
		t.Errorf("the master printed %q, want %q", got, want)
	}
	c.eventually(30*time.Second, "the workers are gone, the master's pod is kept", func() error {
		pods := c.jobPods("distcc")
		if len(pods) != 1 || pods["distcc-master-0"].Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("%d pods", len(pods))
		}
		return nil
	})
}

func TestScenario08TheHostsOfAJobResolveAndAnswer(t *testing.T) {
	c := bigNode(t)
	// A refused connection counts as an answer: the host exists, and nothing listens on port 9.
	probe := `n=0; for h in $(cat /etc/volcano/worker.host); do
  getent hosts $h >/dev/null || { echo "$h does not resolve"; continue; }
  m=$(timeout 5 bash -c "exec 3<>/dev/tcp/$h/9" 2>&1); case "$m" in *refused*) n=$((n+1));; *) echo "$h: $m";; esac
done; echo answered: $n; env | grep ^VC_ | sort`
	c.create(job{
		name: "hosts", min: 11, plugins: "{svc: [], env: []}",
		tasks: []task{
			{name: "master", replicas: 1, command: "until " + "[ $(for h in $(cat /etc/volcano/worker.host); do getent hosts $h; done | wc -l) = 10 ]; do sleep 0.2; done; " + probe,
				policies: "[{event: TaskCompleted, action: CompleteJob}]"},
			{name: "worker", replicas: 10, command: "exec sleep 600"},
		},
	}.String())
	c.jobPhase("hosts", batchv1alpha1.Completed, 60*time.Second)
	if err := containsAll(c.logs("default", "hosts-master-0"), "answered: 10", "VC_TASK_INDEX=0", "VC_WORKER_NUM=10", "VC_MASTER_HOSTS=hosts-master-0.hosts"); err != nil {
		t.Error(err)
	}
}

func TestScenario09MPIOverRealSSH(t *testing.T) {
	manifest := scenario(t, "mpi.yaml")
	if !usesExistingCluster() {
		// The image of a process node is this machine, so only the path of the program changes.
		manifest = strings.ReplaceAll(manifest, "mpi_hello_world", compileHello(t))
	}
	c := bigNode(t)
	c.create(manifest)
	c.jobPhase("lm-mpi-job", batchv1alpha1.Completed, 120*time.Second)
	if err := containsAll(c.logs("default", "lm-mpi-job-mpimaster-0"),
		"Hello world from processor lm-mpi-job-mpiworker-0, rank 0 out of 2 processors",
		"Hello world from processor lm-mpi-job-mpiworker-1, rank 1 out of 2 processors"); err != nil {
		t.Error(err)
	}
	c.eventually(30*time.Second, "the workers are gone; the master's pod and log remain", func() error {
		pods := c.jobPods("lm-mpi-job")
		if len(pods) != 1 || pods["lm-mpi-job-mpimaster-0"].Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("%d pods", len(pods))
		}
		return nil
	})
}

// compileHello compiles the program of the MPI scenario, and returns its path.
func compileHello(t *testing.T) string {
	t.Helper()
	for _, need := range []string{"/usr/sbin/sshd", "mpiexec", "mpicc"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("SKIPPED: %s is not installed (apt-get install openssh-server openmpi-bin libopenmpi-dev)", need)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: sshd in a pod needs root and a network namespace")
	}
	hello := filepath.Join(t.TempDir(), "mpi_hello_world")
	if out, err := exec.Command("mpicc", "-o", hello, filepath.Join("testdata", "mpi_hello_world.c")).CombinedOutput(); err != nil {
		t.Fatalf("mpicc: %v\n%s", err, out)
	}
	return hello
}

func TestScenario10AKilledWorkerRestartsTheWholeJob(t *testing.T) {
	c := bigNode(t)
	c.create(job{
		name: "train", min: 3, policies: "[{event: PodEvicted, action: RestartJob}]",
		tasks: []task{{name: "master", replicas: 1, cpu: "1", command: "exec sleep 600"}, {name: "worker", replicas: 2, cpu: "1", command: "exec sleep 600"}},
	}.String())
	before := c.running("train", 3, 30*time.Second)
	c.kubectl("delete", "pod", "train-worker-1", "--wait=false")

	c.eventually(60*time.Second, "all three pods are new ones, and the retry count is 1", func() error {
		after := c.jobPods("train")
		if len(after) != 3 {
			return fmt.Errorf("%d pods", len(after))
		}
		for name, p := range after {
			if p.UID == before[name].UID || p.Status.Phase != corev1.PodRunning {
				return fmt.Errorf("%s is %s, new: %v", name, p.Status.Phase, p.UID != before[name].UID)
			}
		}
		j := c.job("train")
		if j.Status.RetryCount != 1 || j.Status.State.Phase != batchv1alpha1.Running {
			return fmt.Errorf("%s, retried %d times", j.Status.State.Phase, j.Status.RetryCount)
		}
		return nil
	})
}

func TestScenario11SuspendAndResume(t *testing.T) {
	c := bigNode(t)
	c.create(job{name: "pause", min: 2, tasks: []task{{name: "main", replicas: 2, cpu: "1", command: "exec sleep 600"}}}.String())
	before := c.running("pause", 2, 30*time.Second)

	c.vcctl("job", "suspend", "pause")
	c.jobPhase("pause", batchv1alpha1.Aborted, 30*time.Second)
	if pods := c.jobPods("pause"); len(pods) > 0 {
		t.Errorf("%d pods are left of a suspended job", len(pods))
	}

	c.vcctl("job", "resume", "pause")
	c.jobPhase("pause", batchv1alpha1.Running, 30*time.Second)
	for name, p := range c.running("pause", 2, 30*time.Second) {
		if p.UID == before[name].UID {
			t.Errorf("%s is the pod from before", name)
		}
	}
}

func TestScenario12ATaskStartsAfterTheOneItDependsOn(t *testing.T) {
	c := bigNode(t)
	c.create(job{
		name: "chain", min: 1,
		tasks: []task{
			{name: "ps", replicas: 1, cpu: "1", command: "exec sleep 600"},
			{name: "worker", replicas: 2, min: 1, cpu: "1", depends: "ps", command: "exec sleep 600"},
		},
	}.String())
	pods := c.running("chain", 3, 60*time.Second)
	started := pods["chain-ps-0"].Status.ContainerStatuses[0].State.Running.StartedAt
	for name, p := range pods {
		if p.Labels[keys.TaskSpec] == "worker" && p.CreationTimestamp.Before(&started) {
			t.Errorf("%s was made at %s, before ps ran at %s", name, p.CreationTimestamp, started)
		}
	}
}

func TestNothingOfAJobIsLeftWhenItIsDeleted(t *testing.T) {
	c := bigNode(t)
	c.create(job{name: "gone", min: 2, plugins: "{svc: [], ssh: []}", tasks: []task{{name: "main", replicas: 2, cpu: "1", command: "exec sleep 600"}}}.String())
	c.running("gone", 2, 30*time.Second)
	c.vcctl("job", "delete", "gone")
	c.eventually(60*time.Second, "pods, group, service, config map and secret are gone", func() error {
		out := c.kubectl("get", "pods,services,configmaps,secrets,podgroups", "-o", "name")
		for _, line := range strings.Fields(out) {
			if strings.Contains(line, "gone") {
				return fmt.Errorf("%s is left", line)
			}
		}
		return nil
	})
}
