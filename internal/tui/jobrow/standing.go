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
// the PodGroups. A queue's R equals Running plus Starting, and its PD equals Pending, provided that all its gangs are
// jobs.
type Tally struct {
	Running int
	// Pending jobs wait in their queue for nodes. Held jobs are not in the queue yet: they are held, before their begin
	// time, or behind other jobs. Slurm's commands show both as PD.
	Pending, Held int
	// Starting jobs have nodes, and their pods are starting.
	Starting int
	// Suspended, Requeued and Ending jobs neither run nor wait.
	Suspended, Requeued, Ending int
	// Ended jobs are complete.
	Ended int
}

// Add counts a job or a part of an array.
func (t *Tally) Add(r Row) {
	switch code, job := state.Code(r.Code()), r.Job; {
	case code.Ended():
		t.Ended++
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

// Text returns the numbers of running and pending jobs, and all other numbers that are not zero.
func (t *Tally) Text() string {
	text := fmt.Sprintf("running %s  pending %s", widget.Count(t.Running), widget.Count(t.Pending))
	for _, other := range t.others() {
		text += "  " + other.name + " " + widget.Count(other.count)
	}
	return text
}

// Sentence returns the same as part of a sentence: 3 running, 2 pending, 1 held.
func (t *Tally) Sentence() string {
	parts := []string{widget.Count(t.Running) + " running", widget.Count(t.Pending) + " pending"}
	for _, other := range t.others() {
		parts = append(parts, widget.Count(other.count)+" "+other.name)
	}
	if t.Ended > 0 {
		parts = append(parts, widget.Count(t.Ended)+" ended")
	}
	return strings.Join(parts, ", ")
}

type named struct {
	name  string
	count int
}

// others returns the nonzero numbers of jobs that neither run nor wait in a queue.
func (t *Tally) others() []named {
	var all []named
	for _, one := range []named{{"held", t.Held}, {"starting", t.Starting}, {"suspended", t.Suspended}, {"requeued", t.Requeued}, {"ending", t.Ending}} {
		if one.count > 0 {
			all = append(all, one)
		}
	}
	return all
}
