package jobstatus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/render"
)

// EvictionsText describes how many times pods of a job were evicted, and the time, the pods and the reason of the last
// eviction. It returns "" if no pod was evicted. The time is formatted in zone, or in UTC if zone is nil.
func EvictionsText(job *batchv1alpha1.Job, zone *time.Location) string {
	e := job.Status.Evictions
	if e == nil {
		return ""
	}
	text := fmt.Sprintf("%s, last at %s (%s", textformat.CountWithNoun(int(e.Times), "time"), formatTime(e.Last.At.Time, zone), textformat.CountWithNoun(int(e.Last.Pods), "pod"))
	var pods []string
	for _, task := range slices.Sorted(maps.Keys(e.Last.Tasks)) {
		pods = append(pods, task+"-"+e.Last.Tasks[task])
	}
	if len(pods) > 0 {
		text += ": " + strings.Join(pods, ", ")
	}
	if e.Last.Ran != nil {
		text += ", " + render.FormatDuration(e.Last.Ran.Duration) + " of run time"
	}
	text += ")"
	if e.Last.Message != "" {
		text += ": " + e.Last.Message
	}
	return text
}

// HasLostPods reports whether a job had pods or PodGroups that no longer exist because the job was evicted or
// restarted.
func HasLostPods(job *batchv1alpha1.Job) bool {
	return job.Status.Evictions != nil || job.Status.Version > 0
}

// IsAbout reports whether an event is about the job itself, or about a PodGroup or pod that the job has or had. Events
// about an earlier job with the same name do not count.
func IsAbout(job *batchv1alpha1.Job, e *corev1.Event) bool {
	about := &e.InvolvedObject
	switch {
	case about.Namespace != job.Namespace:
		return false
	case about.UID == job.UID:
		return true
	case about.Kind == "PodGroup":
		return about.Name == job.Name+"-"+string(job.UID)
	case about.Kind == "Pod":
		return hasPodNameForm(job, about.Name) && !EventTime(e).Time.Before(job.CreationTimestamp.Time)
	}
	return false
}

// hasPodNameForm reports whether name has the form of the job's pod names: job-task-index.
func hasPodNameForm(job *batchv1alpha1.Job, name string) bool {
	rest, ours := strings.CutPrefix(name, job.Name+"-")
	if !ours {
		return false
	}
	for i := range job.Spec.Tasks {
		index, of := strings.CutPrefix(rest, job.Spec.Tasks[i].Name+"-")
		if of && index != "" && strings.Trim(index, "0123456789") == "" {
			return true
		}
	}
	return false
}
