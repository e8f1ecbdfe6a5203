package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// TestAQueueIsClosedDeletedAndMadeAgainWithKubectl checks that running jobs continue while their queue is closed,
// deleted and created again, and that its status is always correct.
func TestAQueueIsClosedDeletedAndMadeAgainWithKubectl(t *testing.T) {
	c := startCluster(t, "--process-nodes", "0", "--simulated-nodes", "1", "--node-cpu", "4", "--simulated-start", "10ms")
	team := queue("team", "weight: 1")
	c.create(team)
	c.queueSays("team", schedulingv1beta1.QueueStateOpen, 0)
	c.create(single("first", "team", "1").String() + single("large", "team", "5").String())
	c.running("first", 1, 30*time.Second)
	c.queueSays("team", schedulingv1beta1.QueueStateOpen, 1)

	c.kubectl("annotate", "queue", "team", keys.QueueState+"=Closed")
	c.queueSays("team", schedulingv1beta1.QueueStateClosing, 1)
	c.waits("large", 30*time.Second, "team", "clos")
	if r := c.run(single("late", "team", "1").String(), "kubectl", "create", "-f", "-"); r.code == 0 {
		t.Error("a closing queue took a job")
	} else if err := containsAll(r.stderr, "team", "Closing"); err != nil {
		t.Error(err)
	}
	if r := c.run("", "kubectl", "patch", "queue", "team", "--type=merge", "-p", `{"spec":{"weight":3}}`); r.code != 0 {
		t.Errorf("a closing queue cannot be edited: %s", r.stderr)
	}
	if r := c.run("", "kubectl", "annotate", "--overwrite", "queue", "team", keys.QueueState+"=Ajar"); r.code == 0 {
		t.Error("a queue was left ajar")
	} else if err := containsAll(r.stderr, keys.QueueState, `"Open"`, `"Closed"`); err != nil {
		t.Error(err)
	}

	c.kubectl("delete", "queue", "team")
	c.waits("large", 30*time.Second, "team", "does not exist")
	c.running("first", 1, time.Second)
	c.create(team)
	c.queueSays("team", schedulingv1beta1.QueueStateOpen, 1)
	c.kubectl("annotate", "queue", "team", keys.QueueState+"=Closed")
	c.queueSays("team", schedulingv1beta1.QueueStateClosing, 1)
	c.kubectl("delete", "jobs.batch.volcano.sh", "first", "large")
	c.queueSays("team", schedulingv1beta1.QueueStateClosed, 0)
	c.kubectl("annotate", "--overwrite", "queue", "team", keys.QueueState+"=Open")
	c.queueSays("team", schedulingv1beta1.QueueStateOpen, 0)
}

// queueSays waits until a queue's status has this state and this number of running gangs.
func (c *cluster) queueSays(name string, state schedulingv1beta1.QueueState, running int32) {
	c.t.Helper()
	c.eventually(20*time.Second, fmt.Sprintf("queue %s is %s with %d that run", name, state, running), func() error {
		var q schedulingv1beta1.Queue
		if err := c.Get(context.Background(), client.ObjectKey{Name: name}, &q); err != nil {
			return err
		}
		if q.Status.State != state || q.Status.Running != running {
			return fmt.Errorf("status %+v", q.Status)
		}
		return nil
	})
}
