package clusterdata

import (
	"context"
	"slices"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// ReadNamedJobs reads the jobs specified by the words, which are numbers, names, or jobname=NAME. It returns an error
// if a job specified by number or name does not exist. If changing is true, it also rejects references to elements of
// arrays.
func ReadNamedJobs(ctx context.Context, c *program.Call, given []string, changing bool) ([]*batchv1alpha1.Job, error) {
	var titles, named []string
	for _, word := range given {
		if name, value, ok := strings.Cut(word, "="); ok && strings.EqualFold(name, "jobname") {
			titles = append(titles, program.SplitList(value)...)
		} else {
			named = append(named, word)
		}
	}
	if len(titles)+len(named) == 0 {
		return nil, usererror.Errorf("specify jobs, for example 42 or 42,43", "too few arguments")
	}
	refs, err := program.ParseJobWords(named)
	if err != nil {
		return nil, err
	}
	read := refs
	if len(titles) > 0 {
		read = nil // all jobs
	}
	v, err := ReadView(ctx, c, Wants{Named: read})
	if err != nil {
		return nil, err
	}
	var jobs []*batchv1alpha1.Job
	for _, job := range v.Jobs {
		byName := slices.Contains(titles, batchv1alpha1.Title(job)) && !jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job))
		if byName || slices.ContainsFunc(refs, func(ref optionvalue.Job) bool { _, ok := listrow.MatchReference(ref, job); return ok }) {
			jobs = append(jobs, job)
		}
	}
	for _, ref := range refs {
		i := slices.IndexFunc(jobs, func(job *batchv1alpha1.Job) bool { _, ok := listrow.MatchReference(ref, job); return ok })
		if i < 0 {
			return nil, program.MissingJobError("squeue and sacct list jobs", "Invalid job id specified for job %s", ref)
		}
		if elements, _ := listrow.MatchReference(ref, jobs[i]); elements != nil {
			if !changing {
				continue
			}
			return nil, usererror.Errorf("specify the array: "+listrow.NumberOrName(jobs[i])+"; only scancel and scontrol requeue accept array tasks", "%s: individual array tasks cannot be changed", ref)
		}
	}
	return jobs, nil
}
