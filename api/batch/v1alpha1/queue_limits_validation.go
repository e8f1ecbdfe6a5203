package v1alpha1

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/api/textformat"
)

// ValidateQueueLimits returns the errors of a new job that exceeds the limits of its queue. spec is the path of the
// job's spec. If requiresTimeLimit is false, a missing time limit is accepted, because DefaultTimeLimit will set it.
func ValidateQueueLimits(job *Job, spec *field.Path, queues QueueLookup, requiresTimeLimit bool) field.ErrorList {
	c := newLimitCheck(job, spec, queues, requiresTimeLimit)
	var errs field.ErrorList
	for i := range job.Spec.Tasks {
		errs = append(errs, c.checkTimeLimit(i)...)
	}
	errs = append(errs, c.checkEstimate()...)
	errs = append(errs, c.checkPods()...)
	return append(errs, c.checkNodes()...)
}

// ValidateQueueLimitsUpdate is like ValidateQueueLimits, but for an updated job. If the job stays in its queue, only
// values that the update raises are checked, so that a job which exceeds a newer limit can still be changed in other
// ways.
func ValidateQueueLimitsUpdate(old, updated *Job, queues QueueLookup, requiresTimeLimit bool) field.ErrorList {
	spec := field.NewPath("spec")
	if queueName(old) != queueName(updated) || len(old.Spec.Tasks) != len(updated.Spec.Tasks) {
		return ValidateQueueLimits(updated, spec, queues, requiresTimeLimit)
	}
	var raised []int // tasks whose time limits the update raises or removes
	for i := range updated.Spec.Tasks {
		if IsRaisedLimit(old.Spec.Tasks[i].Template.Spec.ActiveDeadlineSeconds, updated.Spec.Tasks[i].Template.Spec.ActiveDeadlineSeconds) {
			raised = append(raised, i)
		}
	}
	expectsMore, hasMorePods := IsRaisedEstimate(old.Spec.RunningEstimate, updated.Spec.RunningEstimate), MoreReplicas(old, updated)
	hasLargerTask := hasTaskWithMoreReplicas(old, updated)
	raisesNothing := len(raised) == 0 && !expectsMore && !hasLargerTask
	if raisesNothing {
		return nil // without reading the queue
	}
	c := newLimitCheck(updated, spec, queues, requiresTimeLimit)
	var errs field.ErrorList
	for _, task := range raised {
		errs = append(errs, c.checkTimeLimit(task)...)
	}
	if expectsMore {
		errs = append(errs, c.checkEstimate()...)
	}
	if hasMorePods {
		errs = append(errs, c.checkPods()...)
	}
	if hasLargerTask && SeparateNodes(updated) > SeparateNodes(old) {
		errs = append(errs, c.checkNodes()...)
	}
	return errs
}

// hasTaskWithMoreReplicas reports whether an update gives any task more replicas. The tasks of both must correspond.
func hasTaskWithMoreReplicas(old, updated *Job) bool {
	for i := range updated.Spec.Tasks {
		if updated.Spec.Tasks[i].Replicas > old.Spec.Tasks[i].Replicas {
			return true
		}
	}
	return false
}

// IsRaisedLimit reports whether an update makes a time limit longer. A missing limit is longer than any other.
func IsRaisedLimit(old, limit *int64) bool {
	if old == nil {
		return false
	}
	return limit == nil || *limit > *old
}

// IsRaisedEstimate reports whether an update makes an estimate longer or adds one.
func IsRaisedEstimate(old, estimate *metav1.Duration) bool {
	if estimate == nil {
		return false
	}
	return old == nil || estimate.Duration > old.Duration
}

// queueName returns the name of a job's queue.
func queueName(job *Job) string { return cmp.Or(job.Spec.Queue, keys.DefaultQueue) }

// limitCheck compares a job with the limits of its queue.
type limitCheck struct {
	job               *Job
	spec              *field.Path
	queue             string
	limits            schedulingv1beta1.EffectiveJobLimits
	requiresTimeLimit bool
}

func newLimitCheck(job *Job, spec *field.Path, queues QueueLookup, requiresTimeLimit bool) *limitCheck {
	queue := queueName(job)
	return &limitCheck{job: job, spec: spec, queue: queue, limits: schedulingv1beta1.EffectiveJobLimitsOf(queue, queues), requiresTimeLimit: requiresTimeLimit}
}

// permitsRunTime describes the longest run time that the queue permits.
func (c *limitCheck) permitsRunTime() string {
	most := c.limits.MaxRunTime
	return most.Describe(c.queue, textformat.FormatDuration(most.Value))
}

// checkTimeLimit checks the time limit of a task's pods.
func (c *limitCheck) checkTimeLimit(task int) field.ErrorList {
	most := int64(c.limits.MaxRunTime.Value / time.Second)
	if most == 0 {
		return nil
	}
	path := c.spec.Child("tasks").Index(task).Child("template", "spec", "activeDeadlineSeconds")
	switch limit := c.job.Spec.Tasks[task].Template.Spec.ActiveDeadlineSeconds; {
	case limit == nil && !c.requiresTimeLimit:
		return nil
	case limit == nil:
		return field.ErrorList{field.Required(path, fmt.Sprintf("the pods have no time limit, but %s: set a limit of %d seconds or less, or use another queue", c.permitsRunTime(), most))}
	case *limit > most:
		return field.ErrorList{field.Invalid(path, *limit, fmt.Sprintf("the time limit is %s, but %s: lower it to %d seconds or less, or use another queue",
			textformat.FormatDuration(time.Duration(min(*limit, schedulingv1beta1.MaxDeadlineSeconds))*time.Second), c.permitsRunTime(), most))}
	}
	return nil
}

// checkEstimate checks the expected run time.
func (c *limitCheck) checkEstimate() field.ErrorList {
	estimate, most := c.job.Spec.RunningEstimate, c.limits.MaxRunTime.Value
	if estimate == nil || most == 0 || estimate.Duration <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(c.spec.Child("runningEstimate"), estimate.Duration.String(), fmt.Sprintf(
		"the expected run time is %s, but %s: lower it, or use another queue", textformat.FormatDuration(estimate.Duration), c.permitsRunTime()))}
}

// checkPods checks the number of pods in all tasks and array elements together.
func (c *limitCheck) checkPods() field.ErrorList {
	total, most := totalReplicas(c.job), c.limits.MaxPods
	if most.Value == 0 || total <= most.Value {
		return nil
	}
	return field.ErrorList{field.Invalid(c.spec.Child("tasks"), total, fmt.Sprintf("the job has %d pods, but %s per job: lower replicas, create several jobs, or use another queue",
		total, most.Describe(c.queue, textformat.CountWithNoun(most.Value, "pod"))))}
}

// checkNodes checks the number of separate nodes that the job's pods need.
func (c *limitCheck) checkNodes() field.ErrorList {
	most := c.limits.MaxNodes
	if most.Value == 0 {
		return nil
	}
	nodes := SeparateNodes(c.job)
	if nodes <= most.Value {
		return nil
	}
	return field.ErrorList{field.Invalid(c.spec.Child("tasks"), nodes, fmt.Sprintf(
		"the pods need %d separate nodes because of required anti-affinity or host ports, but %s per job: lower replicas, let pods share a node, or use another queue",
		nodes, most.Describe(c.queue, textformat.CountWithNoun(most.Value, "node"))))}
}
