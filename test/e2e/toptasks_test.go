package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/terminal"
)

// rackNodes is the nodes file of a cluster with one process node and two racks of simulated nodes with GPUs.
const rackNodes = `
- {kind: process, cpu: "4", memory: 4Gi}
- {kind: simulated, count: 3, cpu: "8", memory: 32Gi, resources: {nvidia.com/gpu: "4"}, labels: {rack: r1}}
- {kind: simulated, count: 3, cpu: "8", memory: 32Gi, resources: {nvidia.com/gpu: "4"}, labels: {rack: r2}}
`

// dashboardSession is a dashboard in a real terminal with a real cluster.
type dashboardSession struct {
	*terminal.Terminal
	c *cluster
}

// filterScreen opens a screen and filters it.
func (d *dashboardSession) filterScreen(number, filter string, shows ...string) {
	d.c.t.Helper()
	d.Presses(number, "/", "C-u")
	d.Tmux("send-keys", "-l", filter)
	d.Presses("Enter")
	d.Shows(append([]string{"/ " + filter + " "}, shows...)...)
}

// selectQueue moves the cursor to a queue that is the last row of those that its name selects.
func (d *dashboardSession) selectQueue(name string) {
	d.c.t.Helper()
	d.filterScreen("3", name)
	d.Until(name+" is under the cursor", func(screen string) bool {
		for line := range strings.Lines(screen) {
			if strings.Contains(line, "▸") && strings.Contains(line, name) {
				return true
			}
		}
		d.Presses("Down")
		return false
	})
}

// answer types the answer to a question.
func (d *dashboardSession) answer(text string) {
	d.c.t.Helper()
	d.Tmux("send-keys", "-l", text)
	d.Presses("Enter")
}

// TestSevenTasksInTheDashboard does seven usual tasks with keys only, as a user would: find out why a job waits, find idle
// GPUs, cancel 30 jobs of one user and undo a hold, see the failures since yesterday, drain a rack, change the limit of a
// queue, and return from three levels deep with esc. After each task, kubectl verifies the effect.
func TestSevenTasksInTheDashboard(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nodes.yaml")
	if err := os.WriteFile(file, []byte(rackNodes), 0o600); err != nil {
		t.Fatal(err)
	}
	c := startCluster(t, "--process-nodes", "0", "--nodes-file", file)
	c.vcctl("queue", "create", "research")
	c.vcctl("job", "run", "train", "--image", "this-machine", "--replicas", "2", "--gpus", "4", "--", "sleep", "600")
	c.running("train", 2, 60*time.Second)
	c.vcctl("job", "run", "huge", "--image", "this-machine", "--gpus", "5", "--", "true")
	c.vcctl("job", "run", "broken", "--node-selector", "kubernetes.io/hostname=node-1", "--image", "this-machine", "--", "sh", "-c", "echo the disk is full; exit 7")
	c.jobPhase("broken", batchv1alpha1.Failed, 60*time.Second)
	var sweep strings.Builder
	for i := range 30 {
		fmt.Fprintf(&sweep, anasJob, i)
	}
	c.create(sweep.String())

	d := &dashboardSession{terminal.New(t, 160, 45, "KUBECONFIG="+c.kubeconfig, "PATH="+binaries+":/bin:/usr/bin"), c}
	d.Types("vcctl top")
	d.Shows("train", "sweep", "live")
	for _, task := range []struct {
		name string
		do   func(*dashboardSession)
	}{
		{"find out why a job waits", whyAJobWaits}, {"find idle GPUs", findIdleGPUs}, {"cancel 30 jobs of one user", cancelJobsOfAUser}, {"undo a hold", undoAHold},
		{"see the failures since yesterday", seeFailures}, {"come back from three levels deep", comeBack}, {"drain a rack", drainARack}, {"change the limit of a queue", changeALimit},
	} {
		if !t.Run(task.name, func(*testing.T) { task.do(d) }) {
			return
		}
	}
	d.Presses("q")
	d.Until("the shell", func(string) bool { return d.Child() == 0 })
}

// anasJob is a job of the user ana that waits, because it needs more CPU than any node has.
const anasJob = `
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: sweep-%d, labels: {vc-batch.dev/user: ana}, annotations: {vc-batch.dev/user: ana}}
spec:
  minAvailable: 1
  tasks:
  - name: main
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers: [{name: main, image: this-machine, command: ["true"], resources: {requests: {cpu: "64"}}}]
---
`

func whyAJobWaits(d *dashboardSession) {
	d.filterScreen("2", "name=huge", "1 of")
	d.Presses("w")
	d.Shows("default/huge", "nvidia.com/gpu", "Where it is blocked")
	d.Presses("Escape")
	d.Shows("[2]Jobs")
}

func findIdleGPUs(d *dashboardSession) {
	d.filterScreen("4", "gpu>=4", "4 of 7")
	busy := d.c.kubectl("get", "pods", "-l", "volcano.sh/job-name=train", "-o", "jsonpath={.items[*].spec.nodeName}")
	screen := d.Screen()
	for _, node := range strings.Fields(busy) {
		if strings.Contains(screen, node) {
			d.c.t.Errorf("node %s is shown, but its GPUs are allocated:\n%s", node, screen)
		}
	}
}

func cancelJobsOfAUser(d *dashboardSession) {
	d.filterScreen("2", "user:ana", "30 of")
	d.Presses("C-a")
	d.Shows("30 marked")
	d.Presses("x")
	d.Shows("Cancel 30 jobs?")
	d.answer("3") // not the number of jobs: the question remains
	d.Shows("Cancel 30 jobs?")
	d.Presses("C-u")
	d.answer("30")
	d.Shows("30 jobs")
	d.c.eventually(60*time.Second, "all jobs of ana are cancelled, and no others", func() error {
		phases := d.c.kubectl("get", "vcjob", "-l", "vc-batch.dev/user=ana", "-o", "jsonpath={.items[*].status.state.phase}")
		if n := strings.Count(phases, string(batchv1alpha1.Terminated)); n != 30 {
			return fmt.Errorf("%d are Terminated: %s", n, phases)
		}
		return nil
	})
	if phase := d.c.kubectl("get", "vcjob", "train", "-o", "jsonpath={.status.state.phase}"); phase != "Running" {
		d.c.t.Errorf("train is %s", phase)
	}
}

func undoAHold(d *dashboardSession) {
	held := func() string {
		return d.c.kubectl("get", "vcjob", "huge", "-o", `jsonpath={.metadata.annotations.vc-batch\.dev/hold}`)
	}
	d.filterScreen("2", "name=huge", "1 of")
	d.Presses("h", "y")
	d.Shows("job default/huge held")
	if held() == "" {
		d.c.t.Error("the job is not held")
	}
	d.Presses("z")
	d.Shows("job default/huge released")
	if now := held(); now != "" {
		d.c.t.Errorf("the job is still held: %s", now)
	}
}

func seeFailures(d *dashboardSession) {
	d.filterScreen("2", "st:failed since:1d", "broken", "1 of")
	d.Presses("Enter")
	d.Shows("broken-main-0", "main-0 exited with code 7")
	d.Presses("l")
	d.Shows("the disk is full")
	d.Presses("Escape", "Escape")
	d.Shows("[2]Jobs", "/ st:failed since:1d ")
}

func comeBack(d *dashboardSession) {
	d.selectQueue("default")
	d.Presses("Enter")
	d.Shows("> Jobs", "queue=default")
	d.Presses("/", "C-u")
	d.answer("name=train")
	d.Shows("1 of")
	d.Presses("Enter")
	d.Shows("train-main-0", "Timeline")
	d.Presses("Enter")
	d.Shows("train-main-0")
	d.Until("the queues, after esc a few times", func(screen string) bool {
		if strings.Contains(screen, "[3]Queues") && strings.Contains(screen, "DESV") {
			return true
		}
		d.Presses("Escape")
		return false
	})
}

func drainARack(d *dashboardSession) {
	d.filterScreen("4", "rack:r2", "3 of 7")
	d.Presses("C-a")
	d.Shows("3 marked")
	d.Presses("D")
	d.Shows("Drain 3 nodes: ")
	d.answer("3")
	d.Shows("3 nodes drained: ")
	if cordoned := d.c.kubectl("get", "nodes", "-l", "rack=r2", "-o", "jsonpath={.items[*].spec.unschedulable}"); cordoned != "true true true" {
		d.c.t.Errorf("rack r2 is cordoned: %q", cordoned)
	}
	if cordoned := d.c.kubectl("get", "nodes", "-l", "rack=r1", "-o", "jsonpath={.items[*].spec.unschedulable}"); cordoned != "" {
		d.c.t.Errorf("rack r1 is cordoned: %q", cordoned)
	}
	d.c.eventually(60*time.Second, "no pod is on rack r2", func() error {
		drained := strings.Fields(d.c.kubectl("get", "nodes", "-l", "rack=r2", "-o", "jsonpath={.items[*].metadata.name}"))
		on := d.c.kubectl("get", "pods", "-o", `jsonpath={range .items[?(@.status.phase=="Running")]}{.spec.nodeName}{"\n"}{end}`)
		for _, node := range drained {
			if strings.Contains(on, node+"\n") {
				return fmt.Errorf("pods are on %s", on)
			}
		}
		return nil
	})
}

func changeALimit(d *dashboardSession) {
	d.selectQueue("research")
	d.Presses("e")
	d.Shows("Limits of queue research")
	d.Presses("C-u")
	d.answer("capability=nvidia.com/gpu=x")
	d.Shows("Limits of queue research", "capability") // the form remains, with the error
	d.Presses("C-u")
	d.answer("capability=nvidia.com/gpu=8")
	d.Shows("Change 1 limit of queue research?")
	d.Presses("y")
	d.Shows("queue research changed")
	if got := d.c.kubectl("get", "queue", "research", "-o", `jsonpath={.spec.capability.nvidia\.com/gpu}`); got != "8" {
		d.c.t.Errorf("the capability is %q", got)
	}
}
