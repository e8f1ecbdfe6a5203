package scheduler_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/test/propertytest"
)

// milliCPU returns the cpu request of a pod.
func milliCPU(p *corev1.Pod) (sum float64) {
	for i := range p.Spec.Containers {
		sum += float64(p.Spec.Containers[i].Resources.Requests.Cpu().MilliValue())
	}
	return sum
}

func hasEnded(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// everyNodeCounts reports whether pods with unknown constraints may be created, or a pod tolerates the only taint
// that nodes have.
func (r *random) everyNodeCounts() bool {
	members := map[string]bool{}
	for _, p := range r.Pods {
		members[keys.PodGroupOf(p.Annotations)] = true
		if !hasEnded(p) && len(p.Spec.Tolerations) > 0 {
			return true
		}
	}
	for name := range r.Gangs {
		phase := r.Model.Gangs["default/"+name].Status.Phase
		if !members[name] && (phase == "" || phase == schedulingv1beta1.PodGroupPending) {
			return true
		}
	}
	return false
}

// usableMilliCPU computes, from the objects, what pods of queues can use of the nodes.
func (r *random) usableMilliCPU() (sum float64) {
	every, all := r.everyNodeCounts(), 0.0
	for _, node := range r.Nodes {
		free, own := float64(node.Status.Allocatable.Cpu().MilliValue()), 0.0
		all += free
		for _, p := range r.Foreign {
			if p.Spec.NodeName == node.Name && !hasEnded(p) {
				free -= milliCPU(p)
			}
		}
		for _, p := range r.Pods {
			on := p.Spec.NodeName
			if on == "" {
				on = r.Coming[p.UID]
			}
			if on == node.Name && !hasEnded(p) {
				own += milliCPU(p)
			}
		}
		if every || len(node.Spec.Taints) == 0 {
			sum += max(free, own)
		} else {
			sum += own
		}
	}
	return min(sum, all) // a node may have shrunk below what its pods hold
}

// guaranteedMilliCPU returns the guarantee of a queue, and of all queues; for policy capacity at most their
// capability.
func (r *random) guaranteedMilliCPU(queue string) (own, all float64) {
	for _, q := range r.Queues {
		amount := q.Spec.Guarantee.Resource["cpu"]
		if most, capped := q.Spec.Capability["cpu"]; capped && r.CapsGuarantees && most.Cmp(amount) < 0 {
			amount = most
		}
		all += float64(amount.MilliValue())
		if q.Name == queue {
			own = float64(amount.MilliValue())
		}
	}
	return own, all
}

// TestSharesAreOfWhatQueuesCanUse compares the numbers in explanations, the divided total and the resources
// reserved for guarantees, with independent counts of what pods of queues can use of the nodes.
func TestSharesAreOfWhatQueuesCanUse(t *testing.T) {
	seen := map[string]int{}
	whole := propertytest.Check(t, 5000, func(t *rapid.T) {
		r := newRandom(t)
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			r.Change()
			if rapid.IntRange(0, 2).Draw(t, "cycle") > 0 {
				r.Decide()
			}
		}
		e, err := scheduler.New(r.Config)
		if err != nil {
			t.Fatal(err)
		}
		usable := r.usableMilliCPU() // before the cycle, so without its decisions
		e.Cycle(r.Now, r.Model)
		for _, j := range e.WaitingJobs() {
			l := j.Verdict.Limit
			if l == nil || l.Resource != "cpu" {
				continue
			}
			r.compareLimit(l, usable, seen)
		}
	})
	t.Logf("seen: %v", seen)
	for _, kind := range []string{"share", "share of less than all nodes", "kept"} {
		if whole && seen[kind] == 0 {
			t.Errorf("no %s", kind)
		}
	}
}

func (r *random) compareLimit(l *explain.Limit, usable float64, seen map[string]int) {
	if l.Total > 0 {
		seen["share"]++
		if total := float64(r.Model.Total.Get(0)); usable < total {
			seen["share of less than all nodes"]++
		}
		if l.Total != usable {
			r.T.Fatalf("queue %s has a share of %v, queues can use %v", l.Queue, l.Total, usable)
		}
	}
	if l.Cluster && l.Kept > 0 {
		seen["kept"]++
		own, all := r.guaranteedMilliCPU(l.Queue)
		if want := max(usable-all, 0) + own; l.Limit != want {
			r.T.Fatalf("queue %s may hold %v beside guarantees, want %v of %v", l.Queue, l.Limit, want, usable)
		}
		if l.Kept > all-own {
			r.T.Fatalf("%v is kept for the guarantees of others than queue %s, which are %v", l.Kept, l.Queue, all-own)
		}
	}
}
