package randomcluster

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingk8s "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
)

// Rebuild rebuilds the world from its objects, with a new engine whose configuration evicts nothing.
func (r *Cluster) Rebuild() (*scheduler.Engine, *model.Cluster) {
	cfg := *r.Config
	cfg.Actions = []string{"enqueue", "allocate", "backfill"}
	e, err := scheduler.New(&cfg)
	if err != nil {
		r.T.Fatal(err)
	}
	m := model.New()
	for _, name := range slices.Sorted(maps.Keys(r.Classes)) {
		class := &schedulingk8s.PriorityClass{Value: r.Classes[name]}
		class.Name = name
		m.Apply(model.PriorityClassFrom(class))
	}
	for _, q := range r.Queues {
		m.Apply(model.QueueFrom(q))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Nodes)) {
		m.Apply(model.NodeFrom(r.Nodes[name]))
	}
	m.Apply(r.hyper...)
	for _, name := range slices.Sorted(maps.Keys(r.Accounts)) {
		m.Apply(model.AccountFrom(r.Accounts[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(r.QOS)) {
		m.Apply(model.QOSFrom(r.QOS[name]))
	}
	for _, name := range r.PodNames() {
		m.Apply(model.TaskFrom(r.Pods[name], true))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Foreign)) {
		m.Apply(model.TaskFrom(r.Foreign[name], false))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Gangs)) {
		g := r.Gangs[name].DeepCopy()
		g.Status = *r.Model.Gangs["default/"+name].Status.DeepCopy()
		g.Status.Explanation = nil
		m.Apply(model.GangFrom(g))
	}
	return e, m
}

// Enrich adds objects that matter only to explanations: strict queues, queues that are closed or missing, and run
// times.
func (r *Cluster) Enrich() {
	r.Rich = true
	r.hyper = []model.Delta{
		clustertest.HyperNode("left", 1, topologyv1alpha1.MemberTypeNode, "n0", "n1", "n2"), clustertest.HyperNode("right", 1, topologyv1alpha1.MemberTypeNode, "n3", "n4", "n5"),
		clustertest.HyperNode("both", 2, topologyv1alpha1.MemberTypeHyperNode, "left", "right"),
	}
	r.Model.Apply(r.hyper...)
	for _, q := range r.Queues {
		if rapid.IntRange(0, 2).Draw(r.T, "strict") == 0 {
			q.Spec.DequeueStrategy = schedulingv1beta1.DequeueStrategyFIFO
		}
		if rapid.IntRange(0, 5).Draw(r.T, "closed") == 0 {
			q.Status.State = schedulingv1beta1.QueueStateClosed
		}
		r.Model.Apply(model.QueueFrom(q))
	}
}

func (r *Cluster) uid(pod string) types.UID {
	if p := r.Pods[pod]; p != nil {
		return p.UID
	}
	return r.Foreign[pod].UID
}

// StartsInTime advances time with all pods ending as expected, and reports whether a gang has started by its latest start
// time.
func (r *Cluster) StartsInTime(name string, now time.Time, h schedulingv1beta1.Help) bool {
	until, err := time.Parse(time.RFC3339, h.To)
	if err != nil {
		r.T.Fatal(err)
	}
	until = until.Add(5 * time.Second)
	e, m := r.Rebuild()
	ends := map[types.UID]time.Time{}
	pods := slices.Concat(r.PodNames(), slices.Sorted(maps.Keys(r.Foreign)))
	expect := func() {
		for _, pod := range pods {
			if t := m.Task(r.uid(pod)); t != nil && t.Node != model.NoNode {
				if at, timed := t.LatestEndTime(now); timed && ends[t.UID].IsZero() && !t.Status.HasEnded() {
					ends[t.UID] = at
				}
			}
		}
	}
	for expect(); !now.After(until); expect() {
		for _, pod := range pods {
			uid := r.uid(pod)
			if at, known := ends[uid]; known && !at.After(now) {
				t := m.Task(uid)
				if t == nil || t.Node == model.NoNode { // it was never bound, or no longer exists
					delete(ends, uid)
					continue
				}
				ended, ours := r.Pods[pod].DeepCopy(), r.Pods[pod] != nil
				if !ours {
					ended = r.Foreign[pod].DeepCopy()
				}
				ended.Spec.NodeName, ended.Status.Phase = m.Nodes.Name[t.Node], corev1.PodSucceeded
				delete(ends, uid)
				m.Apply(model.TaskFrom(ended, ours))
			}
		}
		for range 4 {
			d := e.Cycle(now, m)
			decision.Assume(m, &d)
			for _, b := range d.Binds {
				if b.Gang.Name == name {
					return true
				}
			}
			expect()
			now = now.Add(10 * time.Millisecond)
		}
		next := until.Add(time.Second)
		for _, at := range ends {
			if at.After(now) && at.Before(next) {
				next = at
			}
		}
		now = next
	}
	return false
}
