package model

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
)

// maxRunTime limits run times to a hundred years.
const maxRunTime = 100 * 365 * 24 * time.Hour

// RunTime is the known maximum and expected run time of a pod. Zero values mean unknown.
type RunTime struct {
	// Limit is the pod's activeDeadlineSeconds. The kubelet stops the pod after this time.
	Limit time.Duration
	// Estimate is the run time that the pod's owner expects. It is not enforced.
	Estimate time.Duration
}

// HasLimitOrEstimate reports whether there is a limit or an estimate.
func (r RunTime) HasLimitOrEstimate() bool { return r.Limit > 0 || r.Estimate > 0 }

// AssumedLength returns the assumed run time of a task that starts now. It returns false if the task may run forever.
func (r RunTime) AssumedLength() (time.Duration, bool) {
	if r.Limit > 0 {
		return r.Limit, true
	}
	return r.Estimate, r.Estimate > 0
}

// runTimeFrom reads the time limit and the estimate annotation of a pod.
func runTimeFrom(pod *corev1.Pod) RunTime {
	var r RunTime
	if s := pod.Spec.ActiveDeadlineSeconds; s != nil && *s > 0 {
		r.Limit = maxRunTime
		if *s < int64(maxRunTime/time.Second) {
			r.Limit = time.Duration(*s) * time.Second
		}
	}
	r.Estimate = durationFrom(pod.Annotations[keys.RunningEstimate])
	return r
}

// durationFrom parses the duration in an annotation. It returns 0 if the annotation is missing or invalid.
func durationFrom(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0
	}
	return min(d, maxRunTime)
}
