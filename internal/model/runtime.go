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

// RunTime returns the run time of the task. The task's own estimate takes precedence over its gang's.
func (t *Task) RunTime() RunTime {
	r := t.Expected
	if r.Estimate == 0 && t.Gang != nil {
		r.Estimate = t.Gang.Estimate
	}
	return r
}

// AssumedLength returns the assumed run time of a task that starts now. It returns false if the task may run forever.
func (r RunTime) AssumedLength() (time.Duration, bool) {
	if r.Limit > 0 {
		return r.Limit, true
	}
	return r.Estimate, r.Estimate > 0
}

// LatestEndTime returns the latest time at which a task on a node ends, according to the information available now;
// false if it may run forever. If the kubelet has not started the task yet, its run time starts now. If the limit has
// passed, the task ends now. If the estimate has passed, it was wrong and is doubled until the end lies in the future
// (the correction of Tsafrir, Etsion and Feitelson, "Backfilling Using System-Generated Predictions", 2007).
func (t *Task) LatestEndTime(now time.Time) (time.Time, bool) {
	r := t.RunTime()
	length, known := r.AssumedLength()
	if !known {
		return time.Time{}, false
	}
	start := t.Started
	if start.IsZero() || start.After(now) {
		start = now
	}
	end := start.Add(length)
	if end.After(now) {
		return end, true
	}
	if r.Limit > 0 {
		return now, true
	}
	for !end.After(now) {
		length *= 2
		end = start.Add(length)
	}
	return end, true
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
	r.Estimate = estimateFrom(pod.Annotations)
	return r
}

// estimateFrom parses the estimate annotation. It returns 0 if the annotation is missing or invalid.
func estimateFrom(annotations map[string]string) time.Duration {
	d, err := time.ParseDuration(annotations[keys.RunningEstimate])
	if err != nil || d <= 0 {
		return 0
	}
	return min(d, maxRunTime)
}

// HasRunTimes reports whether the run time of any pod or gang is known.
func (c *Cluster) HasRunTimes() bool { return c.timed > 0 }

// countRunTimes counts the tasks and gangs with a known run time.
func (c *Cluster) countRunTimes(known bool, sign int) {
	if known {
		c.timed += sign
	}
}
