package slurm

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/account"
	"github.com/vc-batch/vc/internal/act"
	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/record"
)

// hold keeps jobs from starting. Whoever runs the cluster holds jobs of others so that only the like can release them, as Slurm's operators do.
func (c *call) hold(ctx context.Context, words []string) error {
	return c.eachBy(ctx, words, func(job *batchv1alpha1.Job) (*act.Verb, error) {
		if user := account.User(job); user == "" || user == c.me() {
			return act.Hold, nil
		}
		if runs, err := c.runsCluster(ctx); err == nil && runs {
			return act.HoldForAdmin, nil
		}
		return act.Hold, nil
	}, nil)
}

// userHold is a hold that the job's user can release, whoever asks for it.
func (c *call) userHold(ctx context.Context, words []string) error {
	return c.each(ctx, words, act.Hold, nil)
}

// release lets jobs start. What somebody holds who runs the cluster is not a user's to release.
func (c *call) release(ctx context.Context, words []string) error {
	return c.eachBy(ctx, words, func(job *batchv1alpha1.Job) (*act.Verb, error) {
		if job.Annotations[keys.Hold] != keys.HoldAdmin {
			return act.Release, nil
		}
		runs, err := c.runsCluster(ctx)
		if err == nil && !runs {
			err = fault.Errorf("somebody who runs the cluster holds it; ask them to release it", "job %s: Access/permission denied", (&record.Source{Job: job}).Number())
		}
		return act.Release, err
	}, nil)
}

// runsCluster says whether the user is what Slurm calls an operator: who may change the jobs of all namespaces. The cluster is asked once.
func (c *call) runsCluster(ctx context.Context) (bool, error) {
	if c.operator != nil {
		return *c.operator, nil
	}
	cl, err := c.f.Client()
	if err != nil {
		return false, err
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Verb: "patch", Group: batchv1alpha1.GroupVersion.Group, Resource: "jobs"}}}
	if err := cl.Create(ctx, review); err != nil {
		return false, err
	}
	c.operator = &review.Status.Allowed
	return review.Status.Allowed, nil
}
