package v1beta1

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/textformat"
)

// MaxDeadlineSeconds is the largest activeDeadlineSeconds of a pod that Kubernetes accepts: 68 years. In a queue with a
// default time limit, it stands for no limit.
const MaxDeadlineSeconds = 1<<31 - 1

const (
	// minRunTime is the shortest time limit, because activeDeadlineSeconds counts whole seconds.
	minRunTime = time.Second
	// maxRunTime is the longest time limit.
	maxRunTime = MaxDeadlineSeconds * time.Second
)

// JobLimit is one limit for the jobs of a queue.
//
// +kubebuilder:object:generate=false
type JobLimit[T int64 | time.Duration] struct {
	// Value is the limit; 0 means no limit.
	Value T
	// Queue is the name of the queue that sets the limit: the job's own queue or one of its ancestors.
	Queue string
}

// tighten replaces the limit if another one, which a queue sets, is stricter.
func (l *JobLimit[T]) tighten(value T, queue string) {
	if value > 0 && (l.Value == 0 || value < l.Value) {
		l.Value, l.Queue = value, queue
	}
}

// EffectiveJobLimits are the limits that apply to the jobs of a queue: for each, the strictest one of the queue and its
// ancestors.
//
// +kubebuilder:object:generate=false
type EffectiveJobLimits struct {
	MaxRunTime JobLimit[time.Duration]
	// DefaultRunTime is the time limit of jobs that do not specify one: the default of the queue or of its nearest
	// ancestor that has one, but not more than MaxRunTime. Without a default, it is MaxRunTime.
	DefaultRunTime JobLimit[time.Duration]
	MaxNodes       JobLimit[int64]
	MaxPods        JobLimit[int64]
}

// EffectiveJobLimitsOf returns the limits of the named queue. A queue that does not exist has no limits.
func EffectiveJobLimitsOf(name string, queues QueueLookup) EffectiveJobLimits {
	var all EffectiveJobLimits
	for range deepestLook {
		if name == "" {
			break
		}
		queue, ok := queues.Queue(name)
		if !ok {
			break
		}
		all.addLimits(queue)
		name = queue.ParentName()
	}
	all.DefaultRunTime.tighten(all.MaxRunTime.Value, all.MaxRunTime.Queue)
	return all
}

// addLimits adds the limits of a queue to the limits of its descendants.
func (l *EffectiveJobLimits) addLimits(queue *Queue) {
	own := queue.Spec.JobLimits
	if own == nil {
		return
	}
	if own.MaxRunTime != nil {
		l.MaxRunTime.tighten(own.MaxRunTime.Duration, queue.Name)
	}
	if own.DefaultRunTime != nil && l.DefaultRunTime.Value == 0 {
		l.DefaultRunTime.tighten(own.DefaultRunTime.Duration, queue.Name)
	}
	if own.MaxNodes != nil {
		l.MaxNodes.tighten(int64(*own.MaxNodes), queue.Name)
	}
	if own.MaxPods != nil {
		l.MaxPods.tighten(int64(*own.MaxPods), queue.Name)
	}
}

// validateJobLimits returns the errors in the limits that a queue sets. The CRD has the same rules.
func validateJobLimits(limits *JobLimits, path *field.Path) field.ErrorList {
	if limits == nil {
		return nil
	}
	errs := append(validateRunTime(limits.MaxRunTime, path.Child("maxRunTime")), validateRunTime(limits.DefaultRunTime, path.Child("defaultRunTime"))...)
	defaultTime, longestTime := limits.DefaultRunTime, limits.MaxRunTime
	hasBoth := defaultTime != nil && longestTime != nil
	if hasBoth && defaultTime.Duration > longestTime.Duration {
		errs = append(errs, field.Invalid(path.Child("defaultRunTime"), defaultTime.Duration.String(), fmt.Sprintf("must not be longer than maxRunTime, which is %s", textformat.FormatDuration(longestTime.Duration))))
	}
	errs = append(errs, validateCount(limits.MaxNodes, path.Child("maxNodes"))...)
	return append(errs, validateCount(limits.MaxPods, path.Child("maxPods"))...)
}

func validateCount(limit *int32, path *field.Path) field.ErrorList {
	if limit == nil || *limit >= 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *limit, "must be greater than or equal to 1; omit the field for no limit")}
}

func validateRunTime(limit *metav1.Duration, path *field.Path) field.ErrorList {
	if limit == nil || (limit.Duration >= minRunTime && limit.Duration <= maxRunTime) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, limit.Duration.String(), fmt.Sprintf("must be between %s and %s; omit the field for no limit", textformat.FormatDuration(minRunTime), textformat.FormatDuration(maxRunTime)))}
}

// Describe returns a limit in a message about a job of the queue, for example "queue gpu permits at most 24h (set by
// queue research)".
func (l JobLimit[T]) Describe(queue, limit string) string {
	text := fmt.Sprintf("queue %s permits at most %s", queue, limit)
	if l.Queue != queue {
		text += " (set by queue " + l.Queue + ")"
	}
	return text
}
