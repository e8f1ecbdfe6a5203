package snapshot

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/queueusage"
)

// updateQueues creates the rows of all queues, in tree order.
func (b *Board) updateQueues(jobs []*Job) []*Queue {
	all := slices.SortedFunc(maps.Values(b.queues), func(x, y *schedulingv1beta1.Queue) int { return cmp.Compare(x.Name, y.Name) })
	forest := queueusage.NewForest(all)
	pending, admitted, pods := pendingByQueue(jobs), b.admittedByQueue(), podsByQueue(jobs)
	var rows []*Queue
	var walk func(parent string, depth int)
	walk = func(parent string, depth int) {
		for _, q := range forest.Children(parent) {
			row := &Queue{
				UID: q.UID, Name: q.Name, Parent: parent, Depth: depth, State: cmp.Or(q.Status.State, schedulingv1beta1.QueueStateOpen),
				Running: int(forest.SumOverTree(q, queueusage.RunningGroups)), Waiting: int(forest.SumOverTree(q, queueusage.WaitingGroups)), Pending: pending[q.Name], Object: q,
			}
			row.Admitted = corev1.ResourceList{}
			for _, each := range append(forest.DescendantsOf(q.Name), q) {
				addAmounts(row.Admitted, admitted[each.Name])
				row.Pods += pods[each.Name]
			}
			if b.unknown[Pods] {
				row.Pods = -1
			}
			rows = append(rows, row)
			walk(q.Name, depth+1)
		}
	}
	walk("", 0)
	return rows
}

// podsByQueue returns, by queue, the number of pods of jobs that have a node and have not ended.
func podsByQueue(jobs []*Job) map[string]int {
	pods := map[string]int{}
	for _, j := range jobs {
		pods[j.Queue] += j.PodsOnNodes
	}
	return pods
}

// isPendingInQueue reports whether a job is pending in its queue.
func isPendingInQueue(j *Job) bool {
	if j == nil || j.Phase != batchv1alpha1.Pending {
		return false
	}
	return j.Group == nil || j.Group.Status.Phase != schedulingv1beta1.PodGroupRunning
}

// pendingByQueue returns the pending jobs of each queue, in the order of CompareByTurn.
func pendingByQueue(jobs []*Job) map[string][]*Job {
	pending := map[string][]*Job{}
	for _, j := range jobs {
		if isPendingInQueue(j) {
			pending[j.Queue] = append(pending[j.Queue], j)
		}
	}
	for _, list := range pending {
		slices.SortStableFunc(list, CompareByTurn)
	}
	return pending
}

// CompareByTurn compares pending jobs by the position that the scheduler gave them, jobs without a position last, then
// by priority and age.
func CompareByTurn(a, b *Job) int {
	place := func(j *Job) int32 {
		if j.Position == 0 {
			return 1<<31 - 1
		}
		return j.Position
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(b.Priority, a.Priority), a.Submitted.Compare(b.Submitted))
}

// admittedByQueue returns, by queue, the requests of the gangs that are admitted and wait for nodes.
func (b *Board) admittedByQueue() map[string]corev1.ResourceList {
	admitted := map[string]corev1.ResourceList{}
	for _, g := range b.groups {
		if g.Status.Phase != schedulingv1beta1.PodGroupInqueue || g.Spec.MinResources == nil {
			continue
		}
		if admitted[g.Spec.Queue] == nil {
			admitted[g.Spec.Queue] = corev1.ResourceList{}
		}
		addAmounts(admitted[g.Spec.Queue], *g.Spec.MinResources)
	}
	return admitted
}

func addAmounts(sum, more corev1.ResourceList) {
	for name, amount := range more {
		total := sum[name].DeepCopy()
		total.Add(amount)
		sum[name] = total
	}
}
