package control

import (
	"bufio"
	"fmt"
	"slices"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/squeue"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/usererror"
)

// target is a job, or some of its elements, to cancel or signal.
type target struct {
	row      *listrow.Row // the row of the whole job
	elements batchv1alpha1.Indices
	step     string
	ref      string // the user's reference
}

// findTargets returns the targets that are specified on the command line and match the filters, in the order of the
// command line. If none are specified, it returns all jobs that match the filters, ordered by number. problems contains
// an error for each specified job that does not exist.
func (s *scancel) findTargets() (targets []target, problems []error) {
	rows := make([]*listrow.Row, len(s.view.Jobs))
	for i, job := range s.view.Jobs {
		rows[i] = &listrow.RowsOf(clusterdata.NewSource(s.Call, s.view, withoutArray(job)), false)[0]
		rows[i].Source.Job = job
	}
	if len(s.refs) == 0 {
		slices.SortStableFunc(rows, listrow.CompareByNumber)
		for _, row := range rows {
			t := target{row: row, ref: row.NumberOrName()}
			if s.isOver(t) {
				continue
			}
			if t, meant := s.applyFilters(t); meant {
				targets = append(targets, t)
			}
		}
		return targets, nil
	}
	for _, ref := range s.refs {
		found := false
		for _, row := range rows {
			elements, named := listrow.MatchReference(ref, row.Job)
			if !named {
				continue
			}
			found = true
			t := target{row: row, elements: elements, step: ref.Step, ref: ref.String()}
			if s.isOver(t) {
				s.reportOver(t.ref)
			} else if t, meant := s.applyFilters(t); meant {
				targets = addTarget(targets, t)
			}
		}
		if !found {
			problems = append(problems, program.MissingJobError("squeue and sacct list jobs", "Kill job error on job id %s: Invalid job id specified", ref))
		}
	}
	return targets, problems
}

// isOfElements reports whether the target consists of elements of an array, rather than a step or a whole job.
func (t *target) isOfElements() bool { return t.step == "" && t.elements != nil }

// addTarget adds a target. It merges targets that consist of elements of the same array.
func addTarget(targets []target, t target) []target {
	for i := range targets {
		other := &targets[i]
		if other.row.Job == t.row.Job && other.isOfElements() && t.isOfElements() {
			other.elements = other.elements.Union(t.elements)
			other.ref += "," + t.ref
			return targets
		}
	}
	return append(targets, t)
}

// applyFilters applies the filters to a target. For an array, it restricts the target to the elements that match the
// filters. If all remaining elements of the array match, the target is still the whole array. meant is false if nothing
// matches.
func (s *scancel) applyFilters(t target) (_ target, meant bool) {
	f := s.filter
	f.All = f.States == nil
	likeJob := f // a filter for the properties that elements share with their job
	likeJob.All, likeJob.Nodes = true, nil
	_, _, isArray := batchv1alpha1.ElementsOf(t.row.Job)
	switch {
	case t.row.State.Code == state.Completing:
		return t, false
	case !isArray || (f.All && len(f.Nodes) == 0):
		return t, f.SelectsRow(t.row)
	case !likeJob.SelectsRow(t.row):
		return t, false
	}
	var wanted, others batchv1alpha1.Indices
	for _, row := range listrow.RowsOf(clusterdata.NewSource(s.Call, s.view, t.row.Job), true) {
		switch {
		case row.State.Code.HasEnded():
		case f.SelectsRow(&row):
			wanted = append(wanted, row.Elements...)
		default:
			others = append(others, row.Elements...)
		}
	}
	wanted = wanted.Union(nil) // sorts the indices
	switch {
	case t.elements != nil:
		t.elements = wanted.Minus(wanted.Minus(t.elements))
		return t, len(t.elements) > 0
	case len(others) > 0:
		t.elements = wanted
	}
	return t, len(wanted) > 0
}

// withoutArray returns a job without its array annotation, so that the job has only one row.
func withoutArray(job *batchv1alpha1.Job) *batchv1alpha1.Job {
	if job.Annotations[keys.Array] == "" {
		return job
	}
	whole := *job
	whole.Annotations = map[string]string{}
	for key, text := range job.Annotations {
		if key != keys.Array {
			whole.Annotations[key] = text
		}
	}
	return &whole
}

// isOver reports whether there is nothing left to cancel in a target.
func (s *scancel) isOver(t target) bool {
	job := t.row.Job
	if code := t.row.State.Code; code.HasEnded() || (code == state.Completing && len(s.refs) > 0) {
		return true
	}
	if t.elements == nil || job.Status.Array == nil {
		return false
	}
	left := t.elements
	for _, text := range []string{job.Status.Array.Succeeded, job.Status.Array.Failed, job.Status.Array.Cancelled} {
		if ended, err := batchv1alpha1.ParseIndices(text); err == nil {
			left = left.Minus(ended)
		}
	}
	if all, _, ok := batchv1alpha1.ElementsOf(job); ok {
		left = left.Minus(left.Minus(all))
	}
	return left.Count() == 0
}

// pendingError returns Slurm's error for a job that cannot be signalled because it is not running.
func pendingError(id string) error {
	return usererror.Errorf("only running jobs have steps and can receive signals; to cancel the job, use scancel without a step or signal", "Kill job error on job id %s: Job is pending execution", id)
}

// scancel is one run of the scancel command in one cluster.
type scancel struct {
	*program.Call
	refs   []optionvalue.Job
	filter squeue.Filter
	signal string
	view   *clusterdata.View
	input  *bufio.Reader
}

// reportOver prints, with -v, Slurm's message about a job that has ended. This is not an error, because users call
// scancel to make sure that a job is not running.
func (s *scancel) reportOver(id string) {
	if s.Parsed.Has("verbose") {
		fmt.Fprintf(s.Factory.Streams.Err, "scancel: Kill job error on job id %s: Job/step already completing or completed\n", id)
	}
}
