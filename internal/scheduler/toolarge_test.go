package scheduler

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestATooLargeGangIsTriedAgainWhenNodesChange parks a gang that is too large for every node. Its queue's limit is
// below the cluster, so that only a change of the nodes can wake it, and the nodes are full, so that free resources
// do not.
func TestATooLargeGangIsTriedAgainWhenNodesChange(t *testing.T) {
	taint := func(b *make.NodeBuilder) *make.NodeBuilder { return b.Taint("off", "", corev1.TaintEffectNoSchedule) }
	for name, event := range map[string]model.Delta{
		"a larger node comes":        model.NodeFrom(make.Node("new").CPU("4").Obj()),
		"a node grows":               model.NodeFrom(make.Node("a").CPU("4").Obj()),
		"a larger node's taint goes": model.NodeFrom(make.Node("tainted").CPU("4").Obj()),
	} {
		t.Run(name, func(t *testing.T) {
			e, err := New(config.Default())
			if err != nil {
				t.Fatal(err)
			}
			c := model.New()
			c.Apply(model.NodeFrom(make.Node("a").CPU("2").Obj()), model.NodeFrom(taint(make.Node("tainted").CPU("4")).Obj()))
			for _, node := range []string{"a", "tainted"} {
				c.Apply(model.TaskFrom(make.Pod("on-"+node).CPU("2").On(node).Obj(), false))
			}
			c.Apply(model.TaskFrom(make.Pod("on-new").CPU("2").On("new").Obj(), false))
			c.Apply(model.QueueFrom(make.Queue("q").Capability("cpu", "4").Obj()))
			c.Apply(model.GangFrom(make.Gang("g").Queue("q").MinResource("cpu", "3").Obj()), model.TaskFrom(make.Pod("g-0").Gang("g").CPU("3").Obj(), true))
			now := make.Epoch
			for range 3 {
				now = now.Add(2 * time.Second)
				d := e.Cycle(now, c)
				decision.Assume(c, &d)
			}
			status := &c.Gangs["default/g"].Status
			if status.Phase == schedulingv1beta1.PodGroupInqueue || status.Explanation == nil || status.Explanation.Reason != "TooLarge" {
				t.Fatalf("before: %s, %+v, want it outside, too large", status.Phase, status.Explanation)
			}
			c.Apply(event)
			d := e.Cycle(now.Add(2*time.Second), c)
			decision.Assume(c, &d)
			if status := &c.Gangs["default/g"].Status; status.Phase != schedulingv1beta1.PodGroupInqueue {
				t.Errorf("after: %s, %+v, want it let in", status.Phase, status.Explanation)
			}
		})
	}
}

// TestARoomReservedForNothingWakesTheRest admits a gang whose pods, once they exist, are too large: the parked gang
// must be admitted at once.
func TestARoomReservedForNothingWakesTheRest(t *testing.T) {
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	c := model.New()
	c.Apply(model.NodeFrom(make.Node("a").CPU("2").Resource("pods", "2").Obj()), model.NodeFrom(make.Node("b").CPU("2").Resource("pods", "2").Obj()))
	c.Apply(model.QueueFrom(make.Queue("q").Obj()))
	// The queue already requests more than the cluster has, so that requesting more does not change what it
	// deserves.
	c.Apply(model.GangFrom(make.Gang("outside").Queue("q").Obj()))
	for i := range 5 {
		c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("outside-%d", i)).Gang("outside").CPU("8").Obj(), true))
	}
	c.Apply(model.GangFrom(make.Gang("g").Queue("q").MinTask("t", 1).MinResource("cpu", "4").Obj()))
	now := make.Epoch
	cycle := func() {
		now = now.Add(2 * time.Second)
		d := e.Cycle(now, c)
		decision.Assume(c, &d)
	}
	cycle()
	c.Apply(model.GangFrom(make.Gang("second").Queue("q").Age(-time.Second).MinTask("t", 1).MinResource("cpu", "2").Obj()))
	cycle()
	cycle()
	if got := c.Gangs["default/second"].Status.Explanation; got == nil || got.Reason != "NotEnqueued" {
		t.Fatalf("before: %+v, want the second outside", got)
	}
	c.Apply(model.TaskFrom(make.Pod("g-0").Gang("g").Role("t").CPU("4").Obj(), true))
	cycle()
	if got := c.Gangs["default/second"].Status; got.Phase != schedulingv1beta1.PodGroupInqueue {
		t.Errorf("after: %s, %+v, want it let in", got.Phase, got.Explanation)
	}
}
