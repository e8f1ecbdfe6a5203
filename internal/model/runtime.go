package model

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
)

// maxRunTime bounds what is believed of a run time: a hundred years.
const maxRunTime = 100 * 365 * 24 * time.Hour

// RunTime is how long a pod is known to run at most; zero values: nothing is known.
type RunTime struct {
	// Limit is activeDeadlineSeconds: the kubelet ends the pod then.
	Limit time.Duration
	// Estimate is what its owner expects; nobody enforces it.
	Estimate time.Duration
}

// Known says whether there is any.
func (r RunTime) Known() bool { return r.Limit > 0 || r.Estimate > 0 }

// RunTime of the task: its own limit, else its own estimate, else that of its gang.
func (t *Task) RunTime() RunTime {
	r := t.Expected
	if r.Estimate == 0 && t.Gang != nil {
		r.Estimate = t.Gang.Estimate
	}
	return r
}

// Length is the time that a task which starts now is counted with; false: it may run for ever.
func (r RunTime) Length() (time.Duration, bool) {
	if r.Limit > 0 {
		return r.Limit, true
	}
	return r.Estimate, r.Estimate > 0
}

// End is when a task on a node ends at the latest, as far as is known at a time; false: never. A task that the
// kubelet has not taken up yet is counted from now. A limit that has passed ends at once; an estimate that has
// passed was wrong, and is doubled until it lies ahead (as Tsafrir, Etsion and Feitelson correct predictions,
// "Backfilling Using System-Generated Predictions", 2007).
func (t *Task) End(now time.Time) (time.Time, bool) {
	r := t.RunTime()
	length, known := r.Length()
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

// runTimeFrom reads a pod's limit and the annotation with its estimate.
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

// estimateFrom reads the annotation; 0 where it says nothing that can be read.
func estimateFrom(annotations map[string]string) time.Duration {
	d, err := time.ParseDuration(annotations[keys.RunningEstimate])
	if err != nil || d <= 0 {
		return 0
	}
	return min(d, maxRunTime)
}

// Timed says whether anything is known of the run time of any pod.
func (c *Cluster) Timed() bool { return c.timed > 0 }

// countTimed keeps the number of tasks and gangs with a known run time.
func (c *Cluster) countTimed(known bool, sign int) {
	if known {
		c.timed += sign
	}
}
