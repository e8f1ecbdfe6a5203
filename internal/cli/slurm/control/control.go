// Package control implements the programs that change jobs, nodes and partitions: scancel and scontrol. It also
// contains strigger, which only prints alternatives to triggers.
//
//	In:   references to jobs, nodes and partitions, changes to them
//	Out:  patches, commands for the job controller, signals for the pods of a job
package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/attach"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

func matchesAny(r *listrow.Row, refs []optionvalue.Job) bool {
	return slices.ContainsFunc(refs, func(ref optionvalue.Job) bool { return r.MatchesReference(ref) })
}

// applyVerb applies a verb to the jobs specified by the words. It first writes the annotations in before to each job to
// which the verb applies. If the verb then fails, it restores the old values.
func applyVerb(ctx context.Context, c *program.Call, words []string, verb *clusterops.Verb, before map[string]any) error {
	return applyChosenVerb(ctx, c, words, func(*batchv1alpha1.Job) (*clusterops.Verb, error) { return verb, nil }, before)
}

// applyChosenVerb is like applyVerb, but uses the verb that choose returns for each job. An error from choose means
// that no verb applies to the job.
func applyChosenVerb(ctx context.Context, c *program.Call, words []string, choose func(*batchv1alpha1.Job) (*clusterops.Verb, error), before map[string]any) error {
	jobs, err := clusterdata.ReadNamedJobs(ctx, c, words, true)
	if err != nil {
		return err
	}
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	cluster := &clusterops.Cluster{Client: cl, Now: c.Factory.Now}
	var problems []error
	for _, job := range jobs {
		id := listrow.NumberOrName(job)
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
			if err := clusterdata.AnnotateJob(ctx, c, job, before); err != nil {
				problems = append(problems, err)
				continue
			}
		}
		already, err := cluster.ApplyToJob(ctx, verb, job)
		if err != nil && noted {
			problems = append(problems, clusterdata.AnnotateJob(ctx, c, job, previousAnnotations(job, before)))
		}
		switch {
		case err != nil:
			problems = append(problems, err)
		case already != "":
			c.PrintNotef("note", "job %s %s", id, already)
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

func requeueJobs(ctx context.Context, c *program.Call, words []string) error {
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
				problems = append(problems, requeueElement(ctx, c, fmt.Sprintf("%s_%d", array, n)))
			}
		}
	}
	if len(whole) > 0 || len(words) == 0 {
		problems = append(problems, applyVerb(ctx, c, whole, clusterops.Restart, nil))
	}
	return errors.Join(problems...)
}

// requeueElement requeues a running array element through the launcher in its pod.
func requeueElement(ctx context.Context, c *program.Call, id string) error {
	a, err := attach.FindRunningAllocation(ctx, c, id, "Requested operation is presently disabled for job "+id)
	if err != nil {
		return err
	}
	return attach.ExecInPod(ctx, c, a.Head, []string{launchconfig.Program, "scontrol", "requeue", a.JobIDInPod()})
}

// requeueHold requeues jobs and holds them. It writes the hold annotation first, so that the job does not start
// again.
func requeueHold(ctx context.Context, c *program.Call, words []string) error {
	return applyVerb(ctx, c, words, clusterops.Restart, map[string]any{keys.Hold: keys.HoldUser})
}

func suspendJobs(ctx context.Context, c *program.Call, words []string) error {
	if err := applyVerb(ctx, c, words, clusterops.Suspend, nil); err != nil {
		return err
	}
	c.PrintNotef("warning", "the job's pods are stopped; if you resume the job, it starts from the beginning")
	return nil
}

// resumeJobs resumes jobs. It also removes the annotation that names the user who cancelled a job while the job was
// suspended.
func resumeJobs(ctx context.Context, c *program.Call, words []string) error {
	return applyVerb(ctx, c, words, clusterops.Resume, map[string]any{keys.CancelledBy: nil})
}
