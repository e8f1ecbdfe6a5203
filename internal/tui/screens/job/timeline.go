package job

import (
	"fmt"
	"slices"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobrow"
)

// step is an event in the life of a job.
type step struct {
	at   time.Time
	text string
}

// passed maps the phases of a job to the texts for its timeline.
var passed = map[batchv1alpha1.JobPhase]string{
	batchv1alpha1.Running: "running", batchv1alpha1.Restarting: "requeued", batchv1alpha1.Aborting: "being suspended", batchv1alpha1.Aborted: "suspended",
	batchv1alpha1.Completing: "completing", batchv1alpha1.Completed: "completed", batchv1alpha1.Terminating: "being cancelled", batchv1alpha1.Terminated: "cancelled",
	batchv1alpha1.Failed: "failed",
}

// jobTimeline returns the job's history, with the oldest step first. It is derived from the job's conditions and the
// times of its pods.
func jobTimeline(job *snapshot.Job) []step {
	// The steps of pods come before the phases that follow from them, because times have a resolution of a second.
	steps := append([]step{{job.Submitted, "submitted"}}, stepsFromPods(job)...)
	seen := map[batchv1alpha1.JobPhase]time.Time{}
	for _, condition := range job.Object.Status.Conditions {
		if text := passed[condition.Status]; text != "" && condition.LastTransitionTime != nil {
			steps = append(steps, step{condition.LastTransitionTime.Time, text})
			seen[condition.Status] = condition.LastTransitionTime.Time
		}
	}
	if state := job.Object.Status.State; passed[state.Phase] != "" && !state.LastTransitionTime.IsZero() && seen[state.Phase].IsZero() {
		steps = append(steps, step{state.LastTransitionTime.Time, passed[state.Phase]})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	return slices.DeleteFunc(steps, func(s step) bool { return s.at.IsZero() })
}

// stepsFromPods returns the steps derived from the times of the existing pods.
func stepsFromPods(job *snapshot.Job) []step {
	made := sortedTimes(job.Pods, func(p *snapshot.Pod) time.Time { return p.Created.Time() })
	bound := sortedTimes(job.Pods, func(p *snapshot.Pod) time.Time { return p.Bound.Time() })
	started := sortedTimes(job.Pods, func(p *snapshot.Pod) time.Time { return p.Started.Time() })
	all := len(job.Pods)
	var steps []step
	if len(made) > 0 {
		steps = append(steps, step{made[0], "admitted, pods created"})
	}
	switch {
	case len(bound) == 0:
	case len(bound) == all:
		steps = append(steps, step{bound[all-1], fmt.Sprintf("%d/%d pods have nodes", all, all)})
	default:
		steps = append(steps, step{bound[len(bound)-1], fmt.Sprintf("%d/%d pods have nodes", len(bound), all)})
	}
	if len(started) > 0 {
		steps = append(steps, step{started[0], "first container started"})
	}
	if len(started) == all && all > 1 && !started[all-1].Equal(started[0]) {
		steps = append(steps, step{started[all-1], "all containers started"})
	}
	return steps
}

// sortedTimes returns the nonzero times of pods in chronological order.
func sortedTimes(pods []*snapshot.Pod, of func(*snapshot.Pod) time.Time) []time.Time {
	var times []time.Time
	for _, pod := range pods {
		if at := of(pod); !at.IsZero() {
			times = append(times, at)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// formatOffset formats the time between the submission and at, for example "+22s".
func formatOffset(submitted, at time.Time) string {
	if distance := at.Sub(submitted).Truncate(time.Second); distance > 0 {
		return "+" + distance.String()
	}
	return ""
}

// expectedEvents returns the current numbers of pods and the expected events, which are the start and the time limit.
func expectedEvents(job *snapshot.Job, now time.Time) []string {
	var lines []string
	if len(job.Pods) > 0 && !(jobrow.Row{Job: job}).HasEnded() {
		lines = append(lines, fmt.Sprintf("%d/%d running, %d waiting", job.Running, job.Replicas, job.Waiting))
	}
	if start := jobrow.EstimatedStartText(job, now); start != "" && start != "-" {
		lines = append(lines, "estimated start "+start)
	}
	switch {
	case job.Limit == 0 || !job.Ended.IsZero():
	case job.Started.IsZero():
		lines = append(lines, "limit ends "+jobrow.FormatMoment(now.Add(job.Limit), now)+" if started now")
	default:
		lines = append(lines, "limit ends "+jobrow.FormatMoment(job.Started.Add(job.Limit), now))
	}
	return lines
}
