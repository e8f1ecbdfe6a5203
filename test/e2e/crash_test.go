package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/vc-batch/vc/api/keys"
)

// startVcd runs `vcd all` beside a cluster that has none, and gives the process.
func (c *cluster) startVcd() *exec.Cmd {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, "log", "vcd-test.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(binaries, "vcd"), "all", "--kubeconfig", c.kubeconfig, "--leader-elect=false", "--webhook-listen-address", "127.0.0.1:0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// TestKillInTheMiddleOfBindingAGang kills vcd with SIGKILL when k of a gang's n pods are bound, for several k,
// starts it again, and holds the API server's own history against the promises.
func TestKillInTheMiddleOfBindingAGang(t *testing.T) {
	const members = 200
	// Room for exactly the gang: 20 nodes of 10 cpu. Nothing else starts or ends pods.
	c := startCluster(t, "--components", "api", "--process-nodes", "0", "--simulated-nodes", "20", "--node-cpu", "10", "--node-memory", "64Gi", "--simulated-start", "never")
	for round, k := range []int{1, 20, 100, 180, 199} {
		t.Run(fmt.Sprintf("after %d of %d binds", k, members), func(t *testing.T) {
			c := *c
			c.t = t
			name := fmt.Sprintf("gang-%d", round)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			w, err := c.WithWatch.Watch(ctx, &corev1.PodList{})
			if err != nil {
				t.Fatal(err)
			}
			vcd := c.startVcd()
			c.create(job{name: name, min: members, tasks: []task{{name: "m", replicas: members, cpu: "1", command: "sleep 1"}}}.String())

			nodeOf := map[types.UID]string{}
			killed, restarted := false, false
			deadline := time.After(120 * time.Second)
			for len(nodeOf) < members {
				select {
				case e := <-w.ResultChan():
					p, ok := e.Object.(*corev1.Pod)
					if !ok || e.Type == watch.Deleted || p.Labels[keys.JobName] != name || p.Spec.NodeName == "" {
						continue
					}
					if was, bound := nodeOf[p.UID]; bound && was != p.Spec.NodeName {
						t.Fatalf("%s moved from %s to %s", p.Name, was, p.Spec.NodeName)
					}
					nodeOf[p.UID] = p.Spec.NodeName
					if !killed && len(nodeOf) >= k {
						killed = true
						_ = vcd.Process.Kill()
						_ = vcd.Wait()
						c.startVcd()
						restarted = true
					}
				case <-deadline:
					t.Fatalf("%d of %d are bound; killed %v, restarted %v", len(nodeOf), members, killed, restarted)
				}
			}
			c.noOvercommit()
			pods := c.jobPods(name)
			if len(pods) != members {
				t.Errorf("%d pods of %d", len(pods), members)
			}
			for n, p := range pods {
				if nodeOf[p.UID] == "" {
					t.Errorf("%s was made twice: the one that lives was never seen bound", n)
				}
			}
			c.kubectl("delete", "job.batch.volcano.sh", name)
			c.eventually(60*time.Second, "its pods are gone", func() error {
				if n := len(c.jobPods(name)); n > 0 {
					return fmt.Errorf("%d left", n)
				}
				return nil
			})
		})
	}
}

// noOvercommit holds what is bound against what the nodes have, from the API server's truth.
func (c *cluster) noOvercommit() {
	c.t.Helper()
	var nodes corev1.NodeList
	var pods corev1.PodList
	if err := c.List(context.Background(), &nodes); err != nil {
		c.t.Fatal(err)
	}
	if err := c.List(context.Background(), &pods); err != nil {
		c.t.Fatal(err)
	}
	used := map[string]int64{}
	for _, p := range pods.Items {
		if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, ct := range p.Spec.Containers {
			used[p.Spec.NodeName] += ct.Resources.Requests.Cpu().MilliValue()
		}
	}
	for _, n := range nodes.Items {
		if has := n.Status.Allocatable.Cpu().MilliValue(); used[n.Name] > has {
			c.t.Errorf("node %s has %dm cpu and gave %dm", n.Name, has, used[n.Name])
		}
	}
}

func TestWithVcdKilledOthersPodsAreStillMade(t *testing.T) {
	c := startCluster(t, "--components", "api", "--process-nodes", "1", "--node-cpu", "4")
	vcd := c.startVcd()
	c.create(single("before", "", "1").String())
	c.running("before", 1, 60*time.Second)
	_ = vcd.Process.Kill()
	_ = vcd.Wait()

	c.create(foreignPod("other"))
	if p := c.pod("other"); p.Spec.SchedulerName != "default-scheduler" {
		t.Errorf("scheduler %q", p.Spec.SchedulerName)
	}
	// Ours fail closed, with a text that says what is the matter.
	r := c.run(single("after", "", "1").String(), "vcctl", "job", "run", "-f", "-")
	if r.code == 0 || r.stdout != "" {
		t.Errorf("a job was taken with nobody to check it: %s", r.stdout)
	}
	if err := containsAll(r.stderr, "error:", "webhook"); err != nil {
		t.Error(err)
	}
}

func foreignPod(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: default}\nspec: {containers: [{name: c, image: i, command: [sleep, '60']}]}\n", name)
}
