package scheduler

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// BenchmarkIdle measures the cost of one changed pod in a cluster of 5,000 nodes where 1,000 gangs wait in vain.
func BenchmarkIdle(b *testing.B) {
	m := mix{nodes: 5000, shapes: 50, gang: 10, queues: 20, pods: 10_000}
	e, c := m.load(b)
	for i := range 5000 { // the nodes are full
		c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("full-%d", i)).CPU("64").On(fmt.Sprintf("node-%04d", i)).Phase(corev1.PodRunning).Obj(), false))
	}
	now := make.Epoch
	for range 3 {
		now = now.Add(2 * time.Second)
		d := e.Cycle(now, c)
		decision.Assume(c, &d)
	}
	b.ResetTimer()
	for i := range b.N {
		p := make.Pod("other").CPU("1m").Obj()
		if i%2 == 0 {
			p.Spec.NodeName, p.Status.Phase = "node-0007", corev1.PodRunning
		}
		c.Apply(model.TaskFrom(p, i%2 != 0))
		now = now.Add(time.Millisecond)
		d := e.Cycle(now, c)
		decision.Assume(c, &d)
	}
}
