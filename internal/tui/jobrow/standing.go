package jobrow

import (
	"fmt"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Tally counts jobs by how they stand towards their queue. The numbers follow from what
// `vcctl job list -o json` and the PodGroups say, as those of a queue do: its R is
// Running and Starting, its PD is Pending, as far as all its gangs are jobs.
type Tally struct {
	Running int
	// Pending wait in their queue for nodes; Held are not in it yet: held, before their
	// time, or behind other jobs. Both are PD for Slurm's commands.
	Pending, Held int
	// Starting have their nodes, and their pods are on the way up.
	Starting int
	// Suspended, Requeued and Ending neither run nor wait.
	Suspended, Requeued, Ending int
	// Ended are over.
	Ended int
}

// Add counts one more job, or part of an array.
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

// Text says how many run and wait, and of the others how many there are where there are any.
func (t *Tally) Text() string {
	text := fmt.Sprintf("running %s  pending %s", widget.Count(t.Running), widget.Count(t.Pending))
	for _, other := range t.others() {
		text += "  " + other.name + " " + widget.Count(other.count)
	}
	return text
}

// Sentence says the same as a part of a sentence: 3 running, 2 pending, 1 held.
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

// others are those that neither run nor wait in a queue, where there are any.
func (t *Tally) others() []named {
	var all []named
	for _, one := range []named{{"held", t.Held}, {"starting", t.Starting}, {"suspended", t.Suspended}, {"requeued", t.Requeued}, {"ending", t.Ending}} {
		if one.count > 0 {
			all = append(all, one)
		}
	}
	return all
}
