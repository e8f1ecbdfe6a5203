package slurm

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/usererror"
)

// holdJobs prevents jobs from starting. As in Slurm, if an operator holds another user's job, only operators can
// release it.
func (c *call) holdJobs(ctx context.Context, words []string) error {
	return c.applyChosenVerb(ctx, words, func(job *batchv1alpha1.Job) (*clusterops.Verb, error) {
		if user := jobstatus.SubmittingUser(job); user == "" || user == c.userName() {
			return clusterops.Hold, nil
		}
		if runs, err := c.isOperator(ctx); err == nil && runs {
			return clusterops.HoldForAdmin, nil
		}
		return clusterops.Hold, nil
	}, nil)
}

// holdForUsers holds jobs so that their users can release them, even if an operator holds them.
func (c *call) holdForUsers(ctx context.Context, words []string) error {
	return c.applyVerb(ctx, words, clusterops.Hold, nil)
}

// releaseJobs lets held jobs start. Users cannot release jobs that an operator holds.
func (c *call) releaseJobs(ctx context.Context, words []string) error {
	return c.applyChosenVerb(ctx, words, func(job *batchv1alpha1.Job) (*clusterops.Verb, error) {
		if job.Annotations[keys.Hold] != keys.HoldAdmin {
			return clusterops.Release, nil
		}
		runs, err := c.isOperator(ctx)
		if err == nil && !runs {
			err = usererror.Errorf("the job is held by an administrator; ask an administrator to release it", "job %s: Access/permission denied", (&listrow.Source{Job: job}).NumberOrName())
		}
		return clusterops.Release, err
	}, nil)
}

// isOperator reports whether the user is an operator as defined by Slurm, who may change the jobs of all namespaces.
// It caches the answer of the API server.
func (c *call) isOperator(ctx context.Context) (bool, error) {
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
