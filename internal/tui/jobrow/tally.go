package jobrow

import (
	"fmt"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Tally counts jobs by their state in their queue. The numbers are consistent with `vcctl job list -o json` and with
// the PodGroups: if all gangs of a queue are jobs, the queue's number of running jobs equals Running plus Starting, and
// its number of pending jobs equals Pending.
type Tally struct {
	Running int
	// Pending is the number of jobs that wait in their queue for nodes. Held is the number of jobs that are not in
	// the queue yet because they are held, their begin time has not been reached, or they depend on other jobs.
	// Slurm's commands show both as PD.
	Pending, Held int
	// Starting is the number of jobs that have nodes and whose pods are starting.
	Starting int
	// Suspended, Requeued and Ending count jobs that neither run nor wait.
	Suspended, Requeued, Ending int
	// Completed is the number of jobs that completed, Failed the number of jobs that ended in any other way.
	Completed, Failed int
}

// Add counts a row, which is a job or a part of an array.
func (t *Tally) Add(r Row) {
	switch code, job := state.Code(r.SlurmStateCode()), r.Job; {
	case code == state.Completed:
		t.Completed++
	case code.HasEnded():
		t.Failed++
	case code == state.Suspended:
		t.Suspended++
	case code == state.Requeued:
		t.Requeued++
	case code == state.Completing:
		t.Ending++
	case r.Part != nil && code == state.Pending:
		t.Pending++
	case job.Phase == batchv1alpha1.Running:
		t.Running++
	case job.Group == nil && !job.GroupUnknown():
		t.Held++
	case job.Group != nil && job.Group.Status.Phase == schedulingv1beta1.PodGroupRunning:
		t.Starting++
	default:
		t.Pending++
	}
}

// Text returns the numbers of running and pending jobs, and all other nonzero numbers.
func (t *Tally) Text() string {
	text := fmt.Sprintf("running %s  pending %s", widget.FormatCount(t.Running), widget.FormatCount(t.Pending))
	for _, other := range t.otherCounts() {
		text += "  " + other.name + " " + widget.FormatCount(other.count)
	}
	return text
}

// Sentence returns the same numbers as part of a sentence, for example "3 running, 2 pending, 1 held".
func (t *Tally) Sentence() string {
	parts := []string{widget.FormatCount(t.Running) + " running", widget.FormatCount(t.Pending) + " pending"}
	for _, other := range t.otherCounts() {
		parts = append(parts, widget.FormatCount(other.count)+" "+other.name)
	}
	return strings.Join(parts, ", ")
}

type named struct {
	name  string
	count int
}

// otherCounts returns the nonzero numbers except for the numbers of running and pending jobs.
func (t *Tally) otherCounts() []named {
	var all []named
	for _, one := range []named{{"held", t.Held}, {"starting", t.Starting}, {"suspended", t.Suspended}, {"requeued", t.Requeued}, {"ending", t.Ending}, {"failed", t.Failed}, {"completed", t.Completed}} {
		if one.count > 0 {
			all = append(all, one)
		}
	}
	return all
}
