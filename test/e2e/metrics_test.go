package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/test/terminal"
)

// TestUseOfProcessNodesIsMeasured runs a pod that uses a CPU core and 20 MB. `kubectl top` and the dashboard must show
// it, and a user without rights must not.
func TestUseOfProcessNodesIsMeasured(t *testing.T) {
	c := startClusterAlone(t, "--process-nodes", "2", "--node-cpu", "2", "--simulated-nodes", "1")
	c.vcctl("job", "run", "burn", "--image", "this-machine", "--node-selector", "vc-batch.dev/node-kind=process", "--",
		"sh", "-c", `x=$(head -c 20000000 /dev/zero | tr '\0' x); while true; do :; done`)
	c.running("burn", 1, 60*time.Second)
	node := c.pod("burn-main-0").Spec.NodeName
	c.eventually(60*time.Second, "kubectl top shows the use of the pod and of its node", func() error {
		for _, command := range [][]string{{"top", "pods", "--no-headers", "-l", "volcano.sh/job-name=burn"}, {"top", "nodes", "--no-headers", "-l", "kubernetes.io/hostname=" + node}} {
			r := c.run("", "kubectl", command...)
			fields := strings.Fields(r.stdout)
			if r.code != 0 || len(fields) < 3 {
				return fmt.Errorf("kubectl %v: exit %d: %s%s", command, r.code, r.stdout, r.stderr)
			}
			memory := fields[2]
			if command[1] == "nodes" {
				memory = fields[3]
			}
			cpu, wrongCPU := resource.ParseQuantity(fields[1])
			used, wrongMemory := resource.ParseQuantity(memory)
			switch {
			case wrongCPU != nil || wrongMemory != nil:
				return fmt.Errorf("kubectl %v: %v", command, fields)
			case cpu.MilliValue() < 50 || cpu.MilliValue() > 2000:
				return fmt.Errorf("kubectl %v: CPU %s", command, fields[1])
			case used.Value() < 15<<20 || used.Value() > 200<<20:
				return fmt.Errorf("kubectl %v: memory %s", command, memory)
			}
		}
		return nil
	})
	if r := c.run("", "kubectl", "top", "pods", "--as=mei"); r.code == 0 || !strings.Contains(r.stderr, `User "mei" cannot list resource "pods" in API group "metrics.k8s.io"`) {
		t.Errorf("without rights: exit %d: %s%s", r.code, r.stdout, r.stderr)
	}

	m := terminal.New(t, 160, 40, "KUBECONFIG="+c.kubeconfig, "PATH="+binaries+":/bin:/usr/bin")
	m.Types("vcctl top")
	m.Presses("4")
	m.Shows("CPU USED", "MEM USED", node)
	m.Presses("/")
	m.Tmux("send-keys", "-l", node)
	m.Presses("Enter")
	m.Shows("1 of 3", "used: ")
}
