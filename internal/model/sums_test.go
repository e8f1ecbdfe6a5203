package model

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/resource"
)

// TestHugeSums adds more than an int64 can hold to every kind of sum and then subtracts it.
func TestHugeSums(t *testing.T) {
	const pods, large = 9000, "1000Ti"
	one := int64(1000) << 40
	huge := func(name, gang, node string) Delta {
		p := pod(name, gang, node, "1")
		p.Spec.Containers[0].Resources.Requests = quantities("memory", large)
		return TaskFrom(p, true)
	}
	c := New()
	c.Apply(GangFrom(group("g", "q", 1)))
	queue := c.Queues["q"]
	for i := range pods {
		c.Apply(huge(fmt.Sprintf("p%d", i), "g", ""))
	}
	if got := queue.Sums.Pending[resource.Memory]; got != resource.MaxSum {
		t.Errorf("pending %d, want the bound %d", got, resource.MaxSum)
	}
	for i := range pods {
		c.Apply(huge(fmt.Sprintf("p%d", i), "g", fmt.Sprintf("n%d", i)))
	}
	if s := queue.Sums; s.Pending[resource.Memory] != 0 || s.Allocated[resource.Memory] != resource.MaxSum {
		t.Errorf("pending %d and allocated %d, want 0 and the bound", s.Pending[resource.Memory], s.Allocated[resource.Memory])
	}
	for i := range pods - 1 {
		c.Apply(TaskGone{Namespace: "ns", Name: fmt.Sprintf("p%d", i)})
	}
	if got := queue.Sums.Allocated[resource.Memory]; got != one {
		t.Errorf("one pod is left: allocated %d, want %d", got, one)
	}
}

// TestManyNodes adds so many nodes of the largest size that an int64 would overflow.
func TestManyNodes(t *testing.T) {
	c := New()
	for i := range 8300 {
		n := node(fmt.Sprintf("n%d", i), "1")
		n.Status.Allocatable = quantities("memory", "1Ei")
		c.Apply(NodeFrom(n))
	}
	if got := c.Total[resource.Memory]; got != resource.MaxSum {
		t.Errorf("total %d, want the bound %d", got, resource.MaxSum)
	}
	for i := range 8299 {
		c.Apply(NodeGone{Name: fmt.Sprintf("n%d", i)})
	}
	if got := c.Total[resource.Memory]; got != resource.MaxAmount-1 {
		t.Errorf("total of one node %d, want %d", got, resource.MaxAmount-1)
	}
}

func TestLimitsOfLargeClusters(t *testing.T) {
	list := quantities("memory", "2Pi", "cpu", "2e12", "ephemeral-storage", "1e40")
	q := &schedulingv1beta1.Queue{}
	q.Spec.Capability, q.Spec.Guarantee.Resource, q.Spec.Deserved = list, list, list
	pg := group("g", "q", 1)
	pg.Spec.MinResources = &list
	set := QueueFrom(q)
	for name, got := range map[string][]resource.Amount{
		"capability": set.Capability, "guarantee": set.Guarantee, "deserved": set.Deserved, "minResources": GangFrom(pg).MinResources,
	} {
		for _, a := range got {
			want := map[corev1.ResourceName]int64{"memory": 2 << 50, "cpu": 2e15, "ephemeral-storage": resource.MaxSum}[a.Name]
			if a.Value != want {
				t.Errorf("%s: %s is %d, want %d", name, a.Name, a.Value, want)
			}
		}
		if len(got) != 3 {
			t.Errorf("%s has %v, want three amounts", name, got)
		}
	}
	// The minima of several gangs add up in their queue.
	c := New()
	for i := range 5 {
		pg := group(fmt.Sprintf("g%d", i), "q", 1)
		pg.Spec.MinResources = &list
		pg.Status.Phase = schedulingv1beta1.PodGroupInqueue
		c.Apply(GangFrom(pg))
	}
	if got := c.Queues["q"].Sums.Inqueue; got[resource.Storage] != resource.MaxSum || got[resource.Memory] != 10<<50 {
		t.Errorf("let in %v, want the bound of storage and 10Pi of memory", got)
	}
}
