package scheduler

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestACycleCopiesNoCluster checks that the memory of a cycle after one changed pod does not grow with the nodes
// and pods of the cluster or with the number of cycles. TestChangeFloor checks the time.
func TestACycleCopiesNoCluster(t *testing.T) {
	small, large := bytesOfAChange(t, 50), bytesOfAChange(t, 1000)
	t.Logf("50 nodes and 500 pods: %d bytes a cycle; 1,000 nodes and 10,000 pods: %d", small, large)
	if large > 2*small+16<<10 {
		t.Errorf("a cycle after one changed pod takes %d bytes with 1,000 nodes and 10,000 pods, and %d with a twentieth of that", large, small)
	}
}

// bytesOfAChange returns the minimum allocation of a cycle after one changed pod, over 20 cycles in a cluster where
// nothing waits.
func bytesOfAChange(t *testing.T, nodes int) uint64 {
	t.Helper()
	m := mix{nodes: nodes, shapes: 10, gang: 10, queues: 5, pods: 10 * nodes}
	e, c := m.load(t)
	now := make.Epoch
	settle := func() {
		now = now.Add(2 * time.Second)
		d := e.Cycle(now, c)
		decision.Assume(c, &d)
	}
	for range 10 {
		settle()
	}
	least := ^uint64(0)
	for i := range 20 {
		pod := make.Pod(fmt.Sprintf("other-%d", i)).CPU("1").On(fmt.Sprintf("node-%04d", i)).Phase("Running").Obj()
		c.Apply(model.TaskFrom(pod, false))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		settle()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
