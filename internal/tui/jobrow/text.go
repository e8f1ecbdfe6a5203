package jobrow

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// StateStyle returns the style of a state, which is specified by Slurm's code.
func StateStyle(code string) canvas.Style {
	switch state.Code(code) {
	case state.Running, state.Completing:
		return theme.Running
	case state.Completed:
		return theme.Done
	case state.Suspended:
		return theme.Suspended
	case state.Pending, state.Configuring, state.Requeued:
		return theme.Pending
	}
	return theme.Failed
}

// PodStyle returns the style of a pod's state.
func PodStyle(pod *snapshot.Pod) canvas.Style {
	switch {
	case pod.Exited && pod.Phase == "Succeeded":
		return theme.Done
	case pod.Phase == "Failed", pod.Trouble != "":
		return theme.Failed
	case pod.State == "Running":
		return theme.Running
	}
	return theme.Pending
}

// NodesOrReason returns the nodes of a row, for example r05n[01-06], or the reason why it has none, for example
// "GangDoesNotFit: 1 of 2 fit" or, in Slurm's words, "(Resources) 1 of 2 fit".
func (r Row) NodesOrReason(words screenapi.Vocabulary) string {
	reason := r.ReasonText(words)
	isConfiguring := r.SlurmStateCode() == string(state.Configuring)
	hasNodesOnly := r.Job.NodeList != "" && reason == ""
	if !r.IsWaiting() || (isConfiguring && hasNodesOnly) {
		if r.HasEnded() && reason != "" {
			return joinReason(words, reason, r.Job.Says)
		}
		if r.Part != nil && r.Job.NodeList != "" && r.HasEnded() {
			return ""
		}
		return r.Job.NodeList
	}
	says := r.Job.Says
	if r.Part != nil && r.SlurmStateCode() != r.Job.State {
		says = ""
	}
	if reason == "" {
		return says
	}
	return joinReason(words, reason, says)
}

// joinReason joins a reason and a sentence as vcctl job list or squeue shows them.
func joinReason(words screenapi.Vocabulary, reason, says string) string {
	if words == screenapi.SlurmWords {
		return strings.TrimSpace("(" + reason + ") " + says)
	}
	if says == "" {
		return reason
	}
	return reason + ": " + says
}

// EstimatedStartText returns the expected start if it is known: "~22:18" for the scheduler's estimate, or "at 23:00"
// for the job's begin time.
func EstimatedStartText(job *snapshot.Job, now time.Time) string {
	if !(Row{Job: job}).IsWaiting() {
		return ""
	}
	if begin, err := batchv1alpha1.BeginOf(job.Object); err == nil && begin.After(now) {
		return "at " + FormatMoment(begin, now)
	}
	if !job.EstimatedStart.IsZero() {
		return "~" + FormatMoment(job.EstimatedStart, now)
	}
	return "-"
}

// FormatMoment formats a time in short form: 22:18 if it is less than 20 hours away, otherwise Nov 24.
func FormatMoment(at, now time.Time) string {
	at = at.In(now.Location())
	if distance := at.Sub(now); distance < 20*time.Hour && distance > -20*time.Hour {
		return at.Format("15:04")
	}
	return at.Format("Jan 2")
}

// TimeLeftText returns the time left until the job reaches its time limit, for example 19:47:51. It returns "" if there
// is no limit.
func TimeLeftText(job *snapshot.Job, now time.Time) string {
	elapsed, started := ElapsedTime(job, now)
	if job.Limit == 0 || !started || !job.Ended.IsZero() {
		return ""
	}
	return state.ShortClock(max(job.Limit-elapsed, 0))
}

// PodCountsText returns the numbers of running, waiting, succeeded and failed pods in the form 17/0/3/0.
func PodCountsText(job *snapshot.Job) string {
	return fmt.Sprintf("%d/%d/%d/%d", job.Running, job.Waiting, job.Succeeded, job.Failed)
}

// NumberCell returns a number as a table cell; a zero is dimmed.
func NumberCell(n int64) (string, canvas.Style) {
	if n == 0 {
		return "0", theme.Dim
	}
	return strconv.FormatInt(n, 10), theme.Plain
}
