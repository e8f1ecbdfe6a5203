package job

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/index"
)

// requestsForCommand maps a command to a reconcile request for its job.
func requestsForCommand(_ context.Context, o client.Object) []reconcile.Request {
	c := o.(*busv1alpha1.Command)
	if !index.IsJobCommand(c) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: c.TargetObject.Name}}}
}

// cachedCommands returns the cached commands for all jobs with this name, including older jobs, oldest first. Some of
// the commands may already have been deleted.
func (r *Reconciler) cachedCommands(ctx context.Context, name types.NamespacedName) ([]busv1alpha1.Command, error) {
	var cached busv1alpha1.CommandList
	err := r.cache.List(ctx, &cached, client.InNamespace(name.Namespace), client.MatchingFields{index.CommandTarget: index.TargetValue("Job", name.Name)})
	if err != nil {
		return nil, fmt.Errorf("commands for job %s: %w", name.Name, err)
	}
	slices.SortFunc(cached.Items, func(x, y busv1alpha1.Command) int { return index.CompareAge(&x, &y) })
	return slices.DeleteFunc(cached.Items, func(c busv1alpha1.Command) bool { return !index.IsJobCommand(&c) }), nil
}

// readCommands returns the commands for the job, oldest first. It reads each cached command again from the API server,
// because a command is deleted after it has been carried out and must not be carried out twice.
func (r *Reconciler) readCommands(ctx context.Context, job *batchv1alpha1.Job) ([]*busv1alpha1.Command, error) {
	cached, err := r.cachedCommands(ctx, client.ObjectKeyFromObject(job))
	if err != nil {
		return nil, err
	}
	var live []*busv1alpha1.Command
	for i := range cached {
		if !isMeantFor(&cached[i], job) {
			if err := r.deleteStrayCommand(ctx, &cached[i]); err != nil {
				return nil, err
			}
			continue
		}
		var c busv1alpha1.Command
		err := r.api.Get(ctx, client.ObjectKeyFromObject(&cached[i]), &c)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("command %s: %w", cached[i].Name, err)
		}
		if c.DeletionTimestamp == nil && index.IsJobCommand(&c) && isMeantFor(&c, job) {
			live = append(live, &c)
		}
	}
	slices.SortFunc(live, func(x, y *busv1alpha1.Command) int { return index.CompareAge(x, y) })
	return live, nil
}

// readUncachedCommands returns the commands for the job, oldest first, including commands that the cache does not show
// yet.
func (r *Reconciler) readUncachedCommands(ctx context.Context, job *batchv1alpha1.Job) ([]*busv1alpha1.Command, error) {
	var all busv1alpha1.CommandList
	if err := r.api.List(ctx, &all, client.InNamespace(job.Namespace)); err != nil {
		return nil, fmt.Errorf("commands for job %s: %w", job.Name, err)
	}
	var commands []*busv1alpha1.Command
	for i := range all.Items {
		c := &all.Items[i]
		isForJob := index.IsJobCommand(c) && c.TargetObject.Name == job.Name && isMeantFor(c, job)
		if isForJob && c.DeletionTimestamp == nil {
			commands = append(commands, c)
		}
	}
	slices.SortFunc(commands, func(x, y *busv1alpha1.Command) int { return index.CompareAge(x, y) })
	return commands, nil
}

// isMeantFor reports whether a command is for this job and not for an older job with the same name.
func isMeantFor(c *busv1alpha1.Command, job *batchv1alpha1.Job) bool {
	return c.TargetObject.UID == "" || c.TargetObject.UID == job.UID
}

// forgetCommands deletes the commands for a job that does not exist, so that they do not affect a later job with the
// same name.
func (r *Reconciler) forgetCommands(ctx context.Context, name types.NamespacedName) error {
	left, err := r.cachedCommands(ctx, name)
	if err != nil {
		return err
	}
	for i := range left {
		if err := r.deleteStrayCommand(ctx, &left[i]); err != nil {
			return err
		}
	}
	return nil
}

// deleteStrayCommand deletes a command if its job does not exist. It checks this with the API server, because the cache
// may not show a new job yet.
func (r *Reconciler) deleteStrayCommand(ctx context.Context, c *busv1alpha1.Command) error {
	var job batchv1alpha1.Job
	err := r.api.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: c.TargetObject.Name}, &job)
	if client.IgnoreNotFound(err) != nil || (err == nil && isMeantFor(c, &job)) {
		return err
	}
	uid := c.UID
	if err := r.api.Delete(ctx, c, client.Preconditions{UID: &uid}); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("command %s: %w", c.Name, err)
	}
	return nil
}
