package evict_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestEvictionsEnd re-creates every evicted pod, for 40 cycles without any other change: evictions must end (I8).
func TestEvictionsEnd(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		e, err := scheduler.New(config.Default())
		if err != nil {
			t.Fatal(err)
		}
		c := model.New()
		for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			c.Apply(model.NodeFrom(make.Node(fmt.Sprintf("n%d", i)).CPU(fmt.Sprint(rapid.IntRange(1, 8).Draw(t, "cpu"))).Obj()))
		}
		queues := rapid.IntRange(2, 3).Draw(t, "queues")
		for i := range queues {
			c.Apply(model.QueueFrom(make.Queue(fmt.Sprintf("q%d", i)).Weight(int32(rapid.IntRange(1, 3).Draw(t, "weight"))).Obj()))
		}
		pods := map[string]*corev1.Pod{}
		now, last, made := make.Epoch, 0, 0
		for cycle := range 40 {
			if cycle < 6 {
				for range rapid.IntRange(0, 2).Draw(t, "gangs") {
					made++
					submit(t, c, pods, made, queues)
				}
			}
			now = now.Add(2 * time.Second)
			d := e.Cycle(now, c)
			decision.Assume(c, &d)
			for _, b := range d.Binds {
				p := pods[b.Pod.Name]
				p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
				c.Apply(model.TaskFrom(p, true))
			}
			for _, v := range d.Evicts {
				last = cycle
				old := pods[v.Pod.Name]
				c.Apply(model.TaskGone{Namespace: old.Namespace, Name: old.Name, UID: old.UID})
				fresh := old.DeepCopy()
				fresh.UID = types.UID(fmt.Sprintf("%s-again-%d", old.Name, cycle))
				fresh.Spec.NodeName, fresh.Status.Phase = "", corev1.PodPending
				pods[old.Name] = fresh
				c.Apply(model.TaskFrom(fresh, true))
			}
		}
		if last > 30 {
			t.Fatalf("still evicting in cycle %d, though nothing came after cycle 5", last)
		}
	})
}

func submit(t *rapid.T, c *model.Cluster, pods map[string]*corev1.Pod, made, queues int) {
	name := fmt.Sprintf("g%d", made)
	tasks := rapid.IntRange(1, 5).Draw(t, "tasks")
	g := make.Gang(name).Min(rapid.IntRange(1, tasks).Draw(t, "min")).
		Queue(fmt.Sprintf("q%d", rapid.IntRange(0, queues-1).Draw(t, "queue"))).Age(time.Duration(made) * time.Second).Obj()
	g.UID = types.UID(name)
	c.Apply(model.GangFrom(g))
	cpu := fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "asks"))
	for i := range tasks {
		p := make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).CPU(cpu).Obj()
		pods[p.Name] = p
		c.Apply(model.TaskFrom(p, true))
	}
}
