package plan

import (
	"cmp"
	"slices"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// recordPodNodes stores in the status the nodes of the pods that this plan or a later one stops or deletes. These are
// all pods of a job that is ending, and the stopped pods of an array. A restart of the whole job removes the nodes of
// the previous run.
func (b *builder) recordPodNodes(status *batchv1alpha1.JobStatus) {
	if status.State.Phase == batchv1alpha1.Restarting {
		if status.Version != b.in.Job.Status.Version {
			status.Nodes = nil
		}
		return
	}
	ends := leavesItsNodes(status.State.Phase)
	if !ends && b.array == nil {
		return
	}
	leaving := b.placedMembers(func(m *member) bool { return ends || m.stop })
	if len(leaving) == 0 {
		return
	}
	known := batchv1alpha1.NodesOfPods(status.Nodes)
	for _, m := range leaving {
		place := batchv1alpha1.PodPlace{Task: b.job.Spec.Tasks[m.place.Task].Name, Index: m.place.Index}
		if _, replaced := known[place]; replaced || len(known) < batchv1alpha1.MaxStatusNodesPods {
			known[place] = m.pod.Spec.NodeName
		}
	}
	status.Nodes = batchv1alpha1.JobNodesOf(known)
}

// leavesItsNodes reports whether all pods of a job in this phase have ended, or are being stopped and will not run
// again.
func leavesItsNodes(phase batchv1alpha1.JobPhase) bool {
	switch phase {
	case batchv1alpha1.Aborting, batchv1alpha1.Completing, batchv1alpha1.Terminating:
		return true
	}
	return IsEndedOrAborted(phase)
}

// placedMembers returns the chosen pods that have a node, sorted by task and index.
func (b *builder) placedMembers(chosen func(*member) bool) []*member {
	var list []*member
	for _, m := range b.census.members {
		if m.place.Task >= 0 && m.pod.Spec.NodeName != "" && chosen(m) {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(x, y *member) int {
		return cmp.Or(cmp.Compare(x.place.Task, y.place.Task), cmp.Compare(x.place.Index, y.place.Index))
	})
	return list
}
