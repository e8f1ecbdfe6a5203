package control

import (
	"context"
	"slices"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/usererror"
)

// holdJobs prevents jobs from starting. As in Slurm, if an operator holds another user's job, only operators can
// release it.
func holdJobs(ctx context.Context, c *program.Call, words []string) error {
	isOperator := operatorCheck(ctx, c)
	ownNames := sync.OnceValue(func() []string { return c.ListOwnUserNames(ctx) })
	return applyChosenVerb(ctx, c, words, func(job *batchv1alpha1.Job) (*clusterops.Verb, error) {
		if user := batchv1alpha1.UserOf(job); user == "" || user == c.UserName() || slices.Contains(ownNames(), user) {
			return clusterops.Hold, nil
		}
		if runs, err := isOperator(); err == nil && runs {
			return clusterops.HoldForAdmin, nil
		}
		return clusterops.Hold, nil
	}, nil)
}

// holdForUsers holds jobs so that their users can release them, even if an operator holds them.
func holdForUsers(ctx context.Context, c *program.Call, words []string) error {
	return applyVerb(ctx, c, words, clusterops.Hold, nil)
}

// releaseJobs lets held jobs start. Users cannot release jobs that an operator holds.
func releaseJobs(ctx context.Context, c *program.Call, words []string) error {
	isOperator := operatorCheck(ctx, c)
	return applyChosenVerb(ctx, c, words, func(job *batchv1alpha1.Job) (*clusterops.Verb, error) {
		if job.Annotations[keys.Hold] != keys.HoldAdmin {
			return clusterops.Release, nil
		}
		runs, err := isOperator()
		if err == nil && !runs {
			err = usererror.Errorf("the job is held by an administrator; ask an administrator to release it", "job %s: Access/permission denied", listrow.NumberOrName(job))
		}
		return clusterops.Release, err
	}, nil)
}

// operatorCheck returns a function that reports whether the user is an operator in Slurm's sense, which means that the
// user may change jobs in all namespaces. The function asks the API server until it has an answer, which it stores. It
// does not store errors. It is not safe for concurrent use.
func operatorCheck(ctx context.Context, c *program.Call) func() (bool, error) {
	var allowed, answered bool
	return func() (bool, error) {
		if answered {
			return allowed, nil
		}
		cl, err := c.Factory.Client()
		if err != nil {
			return false, err
		}
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "patch", Group: batchv1alpha1.GroupVersion.Group, Resource: "jobs"}}}
		if err := cl.Create(ctx, review); err != nil {
			return false, err
		}
		allowed, answered = review.Status.Allowed, true
		return allowed, nil
	}
}
