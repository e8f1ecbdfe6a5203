package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

func matchesAny(r *listrow.Row, refs []optionvalue.Job) bool {
	return slices.ContainsFunc(refs, func(ref optionvalue.Job) bool { return r.MatchesReference(ref) })
}

// readNamedJobs reads the jobs specified by the words, which are numbers, names, or jobname=NAME. It returns an error
// if one of them does not exist. If changing is true, it also rejects elements of arrays.
func (c *call) readNamedJobs(ctx context.Context, given []string, changing bool) ([]*batchv1alpha1.Job, error) {
	var titles, named []string
	for _, word := range given {
		if name, value, ok := strings.Cut(word, "="); ok && strings.EqualFold(name, "jobname") {
			titles = append(titles, splitList(value)...)
		} else {
			named = append(named, word)
		}
	}
	if len(titles)+len(named) == 0 {
		return nil, usererror.Errorf("specify jobs, for example 42 or 42,43", "too few arguments")
	}
	refs, err := parseJobWords(named)
	if err != nil {
		return nil, err
	}
	if len(titles) > 0 {
		refs = nil // read all jobs
	}
	v, err := c.readView(ctx, wants{named: refs})
	if err != nil {
		return nil, err
	}
	if len(titles) > 0 {
		if refs, err = parseJobWords(named); err != nil {
			return nil, err
		}
	}
	var jobs []*batchv1alpha1.Job
	for _, job := range v.jobs {
		byName := slices.Contains(titles, batchv1alpha1.Title(job)) && !jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job))
		if byName || slices.ContainsFunc(refs, func(ref optionvalue.Job) bool { _, ok := listrow.MatchReference(ref, job); return ok }) {
			jobs = append(jobs, job)
		}
	}
	for _, ref := range refs {
		i := slices.IndexFunc(jobs, func(job *batchv1alpha1.Job) bool { _, ok := listrow.MatchReference(ref, job); return ok })
		if i < 0 {
			return nil, usererror.Errorf("squeue and sacct list jobs", "Invalid job id specified for job %s", ref)
		}
		if elements, _ := listrow.MatchReference(ref, jobs[i]); elements != nil {
			if !changing {
				continue
			}
			return nil, usererror.Errorf("specify the array: "+(&listrow.Source{Job: jobs[i]}).NumberOrName()+"; only scancel accepts elements", "%s: single elements of an array cannot be changed", ref)
		}
	}
	return jobs, nil
}

// applyVerb applies a verb to the jobs specified by the words. Before that, it writes the annotations in before to each
// job, unless the verb does not apply to the job, and restores the old values if the verb fails.
func (c *call) applyVerb(ctx context.Context, words []string, verb *clusterops.Verb, before map[string]any) error {
	return c.applyChosenVerb(ctx, words, func(*batchv1alpha1.Job) (*clusterops.Verb, error) { return verb, nil }, before)
}

// applyChosenVerb is like applyVerb, but uses the verb that choose returns for each job. An error of choose means that
// no verb applies to the job.
func (c *call) applyChosenVerb(ctx context.Context, words []string, choose func(*batchv1alpha1.Job) (*clusterops.Verb, error), before map[string]any) error {
	jobs, err := c.readNamedJobs(ctx, words, true)
	if err != nil {
		return err
	}
	cl, err := c.f.Client()
	if err != nil {
		return err
	}
	cluster := &clusterops.Cluster{Client: cl, Now: c.f.Now}
	var problems []error
	for _, job := range jobs {
		id := (&listrow.Source{Job: job}).NumberOrName()
		verb, err := choose(job)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		refused, idle := verb.CheckApplicable(job)
		if refused != "" {
			problems = append(problems, &usererror.Error{What: fmt.Sprintf("job %s: %s", id, refused)}) // the reason names the alternative
			continue
		}
		noted := before != nil && idle == ""
		if noted {
			if err := c.annotateJob(ctx, job, before); err != nil {
				problems = append(problems, err)
				continue
			}
		}
		already, err := cluster.ApplyToJob(ctx, verb, job)
		if err != nil && noted {
			problems = append(problems, c.annotateJob(ctx, job, previousAnnotations(job, before)))
		}
		switch {
		case err != nil:
			problems = append(problems, err)
		case already != "":
			c.printNotef("note", "job %s %s", id, already)
		}
	}
	return errors.Join(problems...)
}

// previousAnnotations returns the current values of a job's annotations that are about to change, so that the change
// can be undone.
func previousAnnotations(job *batchv1alpha1.Job, changed map[string]any) map[string]any {
	was := map[string]any{}
	for key := range changed {
		was[key] = textOrNil(job.Annotations[key])
	}
	return was
}

func (c *call) requeueJobs(ctx context.Context, words []string) error {
	var whole []string
	var problems []error
	for _, word := range words {
		refs, err := optionvalue.ParseJobs(word)
		if err != nil { // jobname=NAME, or an error that is reported below
			whole = append(whole, word)
			continue
		}
		for _, ref := range refs {
			if ref.Elements.Count() == 0 {
				whole = append(whole, ref.String())
				continue
			}
			array := optionvalue.Job{ID: ref.ID, Name: ref.Name}
			for n := range ref.Elements.All() {
				problems = append(problems, c.requeueElement(ctx, fmt.Sprintf("%s_%d", array, n)))
			}
		}
	}
	if len(whole) > 0 || len(words) == 0 {
		problems = append(problems, c.applyVerb(ctx, whole, clusterops.Restart, nil))
	}
	return errors.Join(problems...)
}

// requeueElement requeues a running array element through the launcher in its pod.
func (c *call) requeueElement(ctx context.Context, id string) error {
	a, err := c.runningAllocation(ctx, id, "Requested operation is presently disabled for job "+id)
	if err != nil {
		return err
	}
	return c.execInPod(ctx, a.head, []string{launchconfig.Program, "scontrol", "requeue", a.jobIDInPod()})
}

// requeueHold requeues jobs and holds them. It writes the hold annotation first, so that the job does not start
// again.
func (c *call) requeueHold(ctx context.Context, words []string) error {
	return c.applyVerb(ctx, words, clusterops.Restart, map[string]any{keys.Hold: keys.HoldUser})
}

func (c *call) suspendJobs(ctx context.Context, words []string) error {
	if err := c.applyVerb(ctx, words, clusterops.Suspend, nil); err != nil {
		return err
	}
	c.printNotef("warning", "pods were stopped; on resume, the job starts again from the beginning")
	return nil
}

// resumeJobs resumes jobs. It removes the annotation with the user who cancelled the job while it was suspended.
func (c *call) resumeJobs(ctx context.Context, words []string) error {
	return c.applyVerb(ctx, words, clusterops.Resume, map[string]any{keys.CancelledBy: nil})
}
