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

// startVcd starts `vcd all` for a cluster without vcd, and returns the process.
func (c *cluster) startVcd(more ...string) *exec.Cmd {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, "log", "vcd-test.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	args := []string{"all", "--kubeconfig", c.kubeconfig, "--webhook-listen-address", "127.0.0.1:0", "--enable-metrics=false", "--enable-healthz=false"}
	cmd := exec.Command(filepath.Join(binaries, "vcd"), append(args, more...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// TestKillInTheMiddleOfBindingAGang kills vcd with SIGKILL when k of a gang's n pods are bound, for several k, starts
// it again, and checks the invariants with the API server's history.
func TestKillInTheMiddleOfBindingAGang(t *testing.T) {
	const members = 200
	// The cluster has room for exactly one gang: 20 nodes of 10 CPUs. Nothing else starts or ends pods.
	c := startCluster(t, "--components", "api", "--process-nodes", "0", "--simulated-nodes", "20", "--node-cpu", "10", "--node-memory", "64Gi", "--simulated-start", "never")
	inTheMiddle := 0
	// In the last round, the new process must wait until the lease of the killed one has expired.
	alone, elected := []string{"--leader-elect=false"}, []string{"--leader-elect=true"}
	for round, r := range []struct {
		k    int
		args []string
	}{{1, alone}, {20, alone}, {50, alone}, {100, alone}, {180, alone}, {40, elected}} {
		k := r.k
		t.Run(fmt.Sprintf("after %d of %d binds, %s", k, members, r.args[0][2:]), func(t *testing.T) {
			c := *c
			c.t = t
			name := fmt.Sprintf("gang-%d", round)
			w := c.watchPods()
			defer w.Stop()
			vcd := c.startVcd(r.args...)
			c.create(job{name: name, min: members, tasks: []task{{name: "m", replicas: members, cpu: "1", command: "sleep 1"}}}.String())

			nodeOf := map[types.UID]string{}
			killed, restarted := false, false
			deadline := time.After(120 * time.Second)
			for len(nodeOf) < members {
				select {
				case e, open := <-w.ResultChan():
					if !open {
						t.Fatalf("the watch ended; %d of %d are bound", len(nodeOf), members)
					}
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
						if bound := c.bound(name); bound < members {
							inTheMiddle++
							t.Logf("killed with %d of %d bound", bound, members)
						}
						c.startVcd(r.args...)
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
	if inTheMiddle < 2 {
		t.Errorf("only %d of the kills fell into the binding of a gang", inTheMiddle)
	}
}

// bound counts the pods of a job that are bound according to the API server.
func (c *cluster) bound(job string) int {
	c.t.Helper()
	n := 0
	for _, p := range c.jobPods(job) {
		if p.Spec.NodeName != "" {
			n++
		}
	}
	return n
}

// noOvercommit compares the bound pods with the capacity of the nodes, according to the API server.
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
	type room struct{ cpu, memory, pods int64 }
	used := map[string]room{}
	for _, p := range pods.Items {
		if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		u := used[p.Spec.NodeName]
		u.pods++
		for _, ct := range p.Spec.Containers {
			u.cpu += ct.Resources.Requests.Cpu().MilliValue()
			u.memory += ct.Resources.Requests.Memory().Value()
		}
		used[p.Spec.NodeName] = u
	}
	for _, n := range nodes.Items {
		has := room{n.Status.Allocatable.Cpu().MilliValue(), n.Status.Allocatable.Memory().Value(), n.Status.Allocatable.Pods().Value()}
		if u := used[n.Name]; u.cpu > has.cpu || u.memory > has.memory || u.pods > has.pods {
			c.t.Errorf("node %s has %+v and gave %+v", n.Name, has, u)
		}
	}
}

func TestWithVcdKilledOthersPodsAreStillMade(t *testing.T) {
	c := startCluster(t, "--components", "api", "--process-nodes", "1", "--node-cpu", "4")
	vcd := c.startVcd("--leader-elect=false")
	c.create(single("before", "", "1").String())
	c.running("before", 1, 60*time.Second)
	_ = vcd.Process.Kill()
	_ = vcd.Wait()

	c.create(foreignPod("other"))
	if p := c.pod("other"); p.Spec.SchedulerName != "default-scheduler" {
		t.Errorf("scheduler %q", p.Spec.SchedulerName)
	}
	// Our webhooks fail closed, with an error that names the cause.
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
