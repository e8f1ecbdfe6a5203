package remedy_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/propertytest"
)

// remedies lists a change of every kind that could be advised to a gang, derived from the objects alone. It uses
// the largest change of each kind that leaves a job to run: if the largest does not help, a smaller one does not
// either. Each minimum is listed.
func (r *random) remedies(name string) []schedulingv1beta1.Help {
	var out []schedulingv1beta1.Help
	add := func(kind, subject, from, to string) {
		out = append(out, schedulingv1beta1.Help{Kind: kind, Subject: subject, From: from, To: to})
	}
	g := r.Gangs[name]
	for n := int(g.Spec.MinMember) - 1; n > 0; n-- {
		add(schedulingv1beta1.HelpFewerMembers, "", "", strconv.Itoa(n))
	}
	asked, labels := r.waitingPods(name)
	for _, kind := range slices.Sorted(maps.Keys(asked)) {
		from := asked[kind]
		if least := resource.MustParse(leastOf[kind]); least.Cmp(from) < 0 {
			add(schedulingv1beta1.HelpSmallerPods, kind, from.String(), leastOf[kind])
		}
	}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		add(schedulingv1beta1.HelpDropSelector, label, "", "")
	}
	add(schedulingv1beta1.HelpAddToleration, "dedicated:NoSchedule", "", "")
	known := false
	for _, q := range r.Queues {
		if q.Name != g.Spec.Queue {
			add(schedulingv1beta1.HelpOtherQueue, "", "", q.Name)
			continue
		}
		known = true
		if _, capped := q.Spec.Capability[corev1.ResourceCPU]; capped {
			add(schedulingv1beta1.HelpRaiseCapability, q.Name, "", "cpu=1000")
		}
		if q.Status.State == schedulingv1beta1.QueueStateClosed {
			add(schedulingv1beta1.HelpOpenQueue, q.Name, "", "")
		}
	}
	if !known {
		add(schedulingv1beta1.HelpCreateQueue, g.Spec.Queue, "", "")
	}
	add(schedulingv1beta1.HelpHigherPriority, "", "", "1000000")
	return out
}

// leastOf is the least request that may be advised for a pod.
var leastOf = map[string]string{"cpu": "10m", "memory": "1Mi", "nvidia.com/gpu": "1"}

// waitingPods returns, by resource, the largest request of a gang's pods without a node, and the labels of their
// node selectors.
func (r *random) waitingPods(name string) (asked map[string]resource.Quantity, labels map[string]bool) {
	asked, labels = map[string]resource.Quantity{}, map[string]bool{}
	for _, pod := range r.PodNames() {
		p := r.Pods[pod]
		if !strings.HasPrefix(pod, name+"-") || p.Spec.NodeName != "" {
			continue
		}
		for kind, amount := range p.Spec.Containers[0].Resources.Requests {
			if amount.Cmp(asked[string(kind)]) > 0 {
				asked[string(kind)] = amount
			}
		}
		for label := range p.Spec.NodeSelector {
			labels[label] = true
		}
	}
	return asked, labels
}

// oneWaits draws a world with other pods, one running gang, and one waiting gang whose pods exist. It returns the
// name of the waiting gang.
func oneWaits(t *rapid.T) (r *random, name string) {
	r = newRandom(t)
	for range rapid.IntRange(0, 3).Draw(t, "pods of others") {
		r.PlaceForeign()
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "gangs") {
		if i == 1 {
			r.Decide()
		}
		name = r.AddGang()
		r.plain(name)
	}
	g := r.Gangs[name]
	switch rapid.IntRange(0, 5).Draw(t, "queue is") {
	case 0:
		g.Spec.Queue = "nowhere"
	case 1:
		for _, q := range r.Queues {
			if q.Name == g.Spec.Queue {
				q.Status.State = schedulingv1beta1.QueueStateClosed
			}
		}
	}
	return r, name
}

// plain makes everything about a gang known: its pods have no gates and no rules about other pods, and request
// something.
func (r *random) plain(name string) {
	g := r.Gangs[name]
	g.Spec.MinResources = nil
	for _, pod := range r.PodNames() {
		if p := r.Pods[pod]; strings.HasPrefix(pod, name+"-") {
			p.Spec.SchedulingGates, p.Spec.TopologySpreadConstraints = nil, nil
			delete(p.Annotations, keys.QueueAllocationGate)
			if asked := p.Spec.Containers[0].Resources.Requests; len(asked) == 0 {
				p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			}
			r.Model.Apply(model.TaskFrom(p, true))
		}
	}
	r.Model.Apply(model.GangFrom(g))
}

// TestNoRemedyIsMissing applies each kind of change that could be advised to the objects of a waiting gang. If the
// gang then starts, a change of that kind must have been advised. TestExplanationsAreTrue checks the other
// direction.
func TestNoRemedyIsMissing(t *testing.T) {
	kinds := map[string]int{}
	whole := propertytest.Check(t, 10000, func(t *rapid.T) {
		r, name := oneWaits(t)
		e, m := r.Rebuild()
		now := r.Now.Add(time.Hour)
		d := e.Cycle(now, m)
		decision.Assume(m, &d)
		told := m.Gangs["default/"+name].Status.Explanation
		if told == nil || len(d.Binds) > 0 || othersWait(m, name) || r.starts(name, now) { // it may start without help in a later cycle
			return
		}
		for _, h := range r.remedies(name) {
			undo := r.apply(name, h)
			helps := r.starts(name, now)
			undo()
			if !helps {
				continue
			}
			kinds[h.Kind]++
			if !slices.ContainsFunc(told.Helps, func(o schedulingv1beta1.Help) bool { return o.Kind == h.Kind }) {
				t.Fatalf("%s waits: %s\n%+v helps; advised is %+v\n%s", name, told.Message, h, told.Helps, clustertest.Describe(m))
			}
		}
	})
	t.Logf("helped: %v", kinds)
	for _, kind := range []string{schedulingv1beta1.HelpFewerMembers, schedulingv1beta1.HelpSmallerPods, schedulingv1beta1.HelpDropSelector,
		schedulingv1beta1.HelpAddToleration, schedulingv1beta1.HelpRaiseCapability, schedulingv1beta1.HelpOtherQueue, schedulingv1beta1.HelpCreateQueue,
		schedulingv1beta1.HelpOpenQueue} { // HigherPriority helps against other waiting gangs
		if whole && kinds[kind] == 0 {
			t.Errorf("%s never helped", kind)
		}
	}
}

// othersWait reports whether another gang than the named one waits.
func othersWait(m *model.Cluster, name string) bool {
	for key, g := range m.Gangs {
		if key != "default/"+name && g.Status.Explanation != nil {
			return true
		}
	}
	return false
}
