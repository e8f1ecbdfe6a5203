package plan

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// recordAttempt adds the attempt before a restart to the status. failure and why describe the restart. The status has the
// new counters of restarts, and the job still has the old ones.
func (b *builder) recordAttempt(status *batchv1alpha1.JobStatus, failure *batchv1alpha1.JobFailure, why string) {
	before := &b.job.Status
	attempt := batchv1alpha1.JobAttempt{
		Number: b.job.Attempt(), EndTime: metav1.NewTime(b.in.Now), Phase: batchv1alpha1.Restarting,
		Failure: failure, Message: why, Nodes: b.nodesOfAttempt(),
	}
	if IsEndedOrAborted(before.State.Phase) {
		attempt.EndTime, attempt.Phase = before.State.LastTransitionTime, before.State.Phase
		attempt.Failure, attempt.Message = before.Failure, before.State.Message
	}
	if started, ok := runningSince(before); ok {
		attempt.StartTime = &started
	}
	others := slices.DeleteFunc(status.Attempts, func(a batchv1alpha1.JobAttempt) bool { return a.Number == attempt.Number })
	status.Attempts = append(others, attempt)
	if excess := len(status.Attempts) - batchv1alpha1.MaxStatusAttempts; excess > 0 {
		status.Attempts = slices.Delete(status.Attempts, 0, excess)
	}
}

// nodesOfAttempt returns the nodes of the existing pods and of pods that were deleted when the job ended, sorted by name.
func (b *builder) nodesOfAttempt() []string {
	var nodes []string
	for _, m := range b.placedMembers(func(*member) bool { return true }) {
		nodes = append(nodes, m.pod.Spec.NodeName)
	}
	for _, node := range b.job.Status.Nodes {
		nodes = append(nodes, node.Name)
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	return nodes[:min(len(nodes), batchv1alpha1.MaxAttemptNodes)]
}

// runningSince returns when the current attempt entered the phase Running. ok is false if it never did. The conditions are
// in the order in which the job last entered the phases.
func runningSince(status *batchv1alpha1.JobStatus) (since metav1.Time, ok bool) {
	for _, c := range slices.Backward(status.Conditions) {
		switch {
		case c.Status == batchv1alpha1.Restarting:
			return metav1.Time{}, false
		case c.Status == batchv1alpha1.Running && c.LastTransitionTime != nil:
			return *c.LastTransitionTime, true
		}
	}
	return metav1.Time{}, false
}
