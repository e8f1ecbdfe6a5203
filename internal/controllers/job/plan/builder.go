package plan

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
)

// builder assembles a plan.
type builder struct {
	in        *Input
	job       *batchv1alpha1.Job // a copy with the defaults filled in
	census    *census
	array     *Array // nil if the job is not an array
	record    record
	plugins   plugin.Set
	pluginErr error
	refused   int32     // number of pods that this plan stops because nodes rejected them
	refusal   *obstacle // describes a rejected pod that is not stopped yet
	delayed   bool      // a policy responds to an event, but the policy's delay has not passed
	plan      Plan
}

func (b *builder) currentPhase() batchv1alpha1.JobPhase {
	if p := b.job.Status.State.Phase; p != "" {
		return p
	}
	return batchv1alpha1.Pending
}

func (b *builder) findTaskIndex(name string) int {
	return slices.IndexFunc(b.job.Spec.Tasks, func(t batchv1alpha1.TaskSpec) bool { return t.Name == name })
}

func (b *builder) appendWrites(w ...Write) { b.plan.Writes = append(b.plan.Writes, w...) }

func (b *builder) appendEvent(kind, reason, format string, args ...any) {
	b.plan.Events = append(b.plan.Events, Event{Type: kind, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// requestPlanAfter requests another plan after d, unless an earlier one is already requested.
func (b *builder) requestPlanAfter(d time.Duration) {
	d = max(d, time.Millisecond)
	if b.plan.RequeueAfter == 0 || d < b.plan.RequeueAfter {
		b.plan.RequeueAfter = d
	}
}

// retryAfter is the interval between retries while a job is waiting for an object that is not watched.
const retryAfter = 5 * time.Second

// record is the finished work, which is stored in the status, so that it is not repeated when its pods no longer exist.
// It consists of the results of an array's elements, or of the succeeded indices of a job that keeps finished pods.
type record struct {
	elements []corev1.PodPhase       // for an array, by position: Succeeded, Failed or ""
	kept     []batchv1alpha1.Indices // for a job that keeps finished pods, by task
}
