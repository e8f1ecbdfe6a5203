package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/terminal"
)

// TestTheDashboardDoesWhatItIsAskedTo presses the keys that change a cluster, in a real terminal with a real cluster,
// and checks the effects: hold, release, cancel, copy, delete, a shell in a pod, requeue, close and open a queue, edit
// its limits, drain and uncordon a node, edit a job.
func TestTheDashboardDoesWhatItIsAskedTo(t *testing.T) {
	c := startCluster(t, "--process-nodes", "2", "--node-cpu", "2")
	c.vcctl("queue", "create", "research")
	c.vcctl("job", "run", "work", "--image", "this-machine", "--", "sleep", "600")
	c.vcctl("job", "run", "huge", "--image", "this-machine", "--cpu", "50", "--", "true")
	c.vcctl("job", "run", "broken", "--image", "this-machine", "--", "/no/such/program")
	c.running("work", 1, 30*time.Second)
	state := func(want schedulingv1beta1.QueueState) {
		c.eventually(30*time.Second, fmt.Sprintf("queue research is %s", want), func() error {
			if got := c.kubectl("get", "queue", "research", "-o", "jsonpath={.status.state}"); got != string(want) {
				return fmt.Errorf("it is %s", got)
			}
			return nil
		})
	}

	m := terminal.New(t, 160, 45, "KUBECONFIG="+c.kubeconfig, "VCCTL_EDITOR=sed -i 's/replicas: 1/replicas: 2/; s/^  weight: 3/  weight: 4/'", "PATH="+binaries+":/bin:/usr/bin")
	m.Tmux("set-option", "-g", "set-clipboard", "on")
	m.Types("vcctl top")
	m.Shows("work", "huge", "live")
	pick := func(name string) {
		m.Presses("2", "/", "C-u")
		m.Tmux("send-keys", "-l", "name="+name)
		m.Presses("Enter")
		m.Shows("/ name="+name+" ", "1 of") // not the previous filter
	}

	pick("huge")
	m.Presses("h", "y")
	m.Shows("job default/huge held")
	m.Shows("JobHeldUser")
	m.Presses("u", "y")
	m.Shows("job default/huge released")
	m.Presses("x", "y")
	m.Shows("job default/huge will be cancelled")
	c.jobPhase("huge", batchv1alpha1.Terminated, 30*time.Second)

	pick("work")
	m.Presses("C-e")
	m.Shows("job default/work edited")
	c.running("work", 2, 30*time.Second)

	pick("broken")
	m.Presses("Enter", "e")
	m.Shows("Failed", "main-0: ", "no/such/program") // the failure of its pod
	m.Presses("y")
	m.Shows("copied")
	c.eventually(10*time.Second, "what was copied is in the terminal's clipboard", func() error {
		if text := m.Tmux("list-buffers", "-F", "#{buffer_sample}"); !strings.Contains(text, "Failed  main-0: Error") {
			return fmt.Errorf("there is %q", text)
		}
		return nil
	})
	m.Presses("C-d", "y")
	m.Shows("job default/broken deleted")
	c.eventually(30*time.Second, "job broken is gone", func() error {
		if text := c.kubectl("get", "vcjob", "broken", "--ignore-not-found", "-o", "name"); text != "" {
			return fmt.Errorf("it is %s", text)
		}
		return nil
	})

	pick("work")
	m.Presses("Enter")
	m.Shows("work-main-0", "Running")
	m.Presses("a")
	m.Shows("shell in default/work-main-0")
	m.Types("echo $((40+2)) of $HOSTNAME")
	m.Shows("42 of work-main-0")
	m.Types("exit")
	m.Shows("work-main-0", "Timeline", "Running") // back in the dashboard
	first := c.pod("work-main-0").UID
	m.Presses("R", "y")
	m.Shows("job default/work will be restarted")
	c.eventually(60*time.Second, "work has another pod that runs", func() error {
		text := c.kubectl("get", "pod", "work-main-0", "--ignore-not-found", "-o", "jsonpath={.metadata.uid} {.status.phase}")
		if strings.Contains(text, string(first)) || !strings.HasSuffix(text, " Running") {
			return fmt.Errorf("it is %q", text)
		}
		return nil
	})
	drained := c.pod("work-main-0")
	node := drained.Spec.NodeName

	m.Presses("3")
	m.Shows("research", "plugin: ")
	m.Presses("/", "C-u")
	m.Tmux("send-keys", "-l", "research")
	m.Presses("Enter", "G")
	m.Presses("e")
	m.Shows("Limits of queue research")
	m.Presses("C-u")
	m.Tmux("send-keys", "-l", "weight=3 capability=cpu=1")
	m.Presses("Enter")
	m.Shows("Change 2 limits of queue research?")
	m.Presses("y")
	m.Shows("queue research changed")
	m.Presses("C", "y")
	m.Shows("queue research will be closed")
	state(schedulingv1beta1.QueueStateClosed)
	m.Shows("Closed")
	m.Presses("o", "y")
	m.Shows("queue research will be opened")
	state(schedulingv1beta1.QueueStateOpen)
	m.Presses("C-e")
	m.Shows("queue research edited")

	m.Presses("4", "/", "C-u")
	m.Tmux("send-keys", "-l", "name="+node)
	m.Presses("Enter")
	m.Shows("1 of 2")
	m.Presses("D")
	m.Shows("Drain node " + node + "?")
	m.Types(node)
	m.Shows("node " + node + " drained; ")
	unschedulable := func() string { return c.kubectl("get", "node", node, "-o", "jsonpath={.spec.unschedulable}") }
	if got := unschedulable(); got != "true" {
		t.Errorf("the node is cordoned: %q", got)
	}
	c.eventually(60*time.Second, "no pod of a job is on the node any more", func() error {
		if on := c.kubectl("get", "pods", "--field-selector", "spec.nodeName="+node, "-o", "jsonpath={.items[*].metadata.uid}"); strings.Contains(on, string(drained.UID)) {
			return fmt.Errorf("there are %s", on)
		}
		return nil
	})
	m.Shows("cordon: yes") // the effect of C depends on the state on the screen
	m.Presses("C")
	m.Shows("Uncordon node " + node + "?")
	m.Presses("y")
	m.Shows("node " + node + " uncordoned")
	if got := unschedulable(); got != "" && got != "false" {
		t.Errorf("the node is uncordoned: %q", got)
	}
	m.Presses("q")
	m.Shows("shell in default/work-main-0") // the screen from before the dashboard, with the shell

	if got := c.kubectl("get", "queue", "research", "-o", "jsonpath={.spec.weight} {.spec.capability.cpu}"); got != "4 1" {
		t.Errorf("weight and capability are %q", got)
	}
}

// TestTheDemoNeedsNoCluster shows the made-up cluster, follows logs, and cancels a job.
func TestTheDemoNeedsNoCluster(t *testing.T) {
	m := terminal.New(t, 140, 40, "KUBECONFIG=/nonexistent", "HOME="+t.TempDir(), "PATH="+binaries+":/bin:/usr/bin")
	m.Types("vcctl top --demo")
	m.Shows("demo / all namespaces", "nodes 96:", "live")
	m.Presses("2", "/")
	m.Tmux("send-keys", "-l", "name=rm-train")
	m.Presses("Enter")
	m.Shows("/ name=rm-train ", "1 of")
	m.Presses("Enter", "l")
	m.Shows("loss")
	m.Presses("x", "y")
	m.Shows("cancel: 1 job")
	m.Presses("s")
	m.Shows("Terminated")
}
