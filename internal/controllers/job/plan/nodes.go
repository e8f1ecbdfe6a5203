package plan

import (
	"cmp"
	"slices"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// recordPodNodes stores in the status the nodes of the pods that this plan or a later one stops or deletes. These are
// all pods of a job that ends, and the stopped pods of an array. A restart of the whole job removes the nodes of the
// previous run.
func (b *builder) recordPodNodes(status *batch.JobStatus) {
	if status.State.Phase == batch.Restarting {
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
	known := batch.NodesOfPods(status.Nodes)
	for _, m := range leaving {
		place := batch.PodPlace{Task: b.job.Spec.Tasks[m.place.Task].Name, Index: m.place.Index}
		if _, replaced := known[place]; replaced || len(known) < batch.MaxStatusNodesPods {
			known[place] = m.pod.Spec.NodeName
		}
	}
	status.Nodes = batch.JobNodesOf(known)
}

// leavesItsNodes reports whether all pods of a job in this phase have ended, or are being stopped and will not run
// again.
func leavesItsNodes(phase batch.JobPhase) bool {
	switch phase {
	case batch.Aborting, batch.Completing, batch.Terminating:
		return true
	}
	return IsEndedOrAborted(phase)
}

// placedMembers returns the chosen pods that have a node, sorted by task and index.
func (b *builder) placedMembers(chosen func(*member) bool) []*member {
	var list []*member
	for i := range b.census.members {
		m := &b.census.members[i]
		if m.place.Task >= 0 && m.pod.Spec.NodeName != "" && chosen(m) {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(x, y *member) int {
		return cmp.Or(cmp.Compare(x.place.Task, y.place.Task), cmp.Compare(x.place.Index, y.place.Index))
	})
	return list
}
