package queue

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/index"
)

// requestsForCommand maps a command to a request for its queue. A command that is neither for a queue nor for a Job is
// mapped to a request for the command itself, which has a namespace.
func requestsForCommand(_ context.Context, o client.Object) []reconcile.Request {
	c := o.(*busv1alpha1.Command)
	switch {
	case index.IsQueueCommand(c):
		return []reconcile.Request{requestForQueue(c.TargetObject.Name)}
	case isMisdirected(c):
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(c)}}
	}
	return nil
}

// isMisdirected reports whether no controller carries out a command. The schema rejects such commands, but older
// commands and commands for another version of a kind may exist, and would otherwise never be deleted.
func isMisdirected(c *busv1alpha1.Command) bool {
	return !index.IsQueueCommand(c) && !index.IsJobCommand(c)
}

// dropMisdirected deletes a command that no controller carries out.
func (r *Reconciler) dropMisdirected(ctx context.Context, key client.ObjectKey) error {
	var c busv1alpha1.Command
	if err := r.api.Get(ctx, key, &c); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !isMisdirected(&c) || c.DeletionTimestamp != nil {
		return nil
	}
	target := "none"
	if c.TargetObject != nil {
		target = c.TargetObject.Kind + " " + c.TargetObject.Name + " of " + c.TargetObject.APIVersion
	}
	log.FromContext(ctx).Info("Command is deleted: its target is neither a Job nor a Queue", "namespace", c.Namespace, "command", c.Name, "action", c.Action, "target", target)
	return r.deleteCommand(ctx, &c)
}

// oldestCommand returns the oldest command for a queue, or nil. It reads from the API server instead of the cache, so
// that no command is carried out twice. more is true if there may be other commands.
func (r *Reconciler) oldestCommand(ctx context.Context, q *schedulingv1beta1.Queue) (oldest *busv1alpha1.Command, more bool, err error) {
	var cached busv1alpha1.CommandList
	if err := r.cache.List(ctx, &cached, client.MatchingFields{index.CommandTarget: index.TargetValue("Queue", q.Name)}); err != nil {
		return nil, false, fmt.Errorf("commands for queue %s: %w", q.Name, err)
	}
	slices.SortFunc(cached.Items, func(x, y busv1alpha1.Command) int { return index.CompareAge(&x, &y) })
	for i := range cached.Items {
		if !index.IsQueueCommand(&cached.Items[i]) {
			continue
		}
		if !isMeantFor(&cached.Items[i], q) {
			if err := r.deleteStrayCommand(ctx, &cached.Items[i]); err != nil {
				return nil, false, err
			}
			continue
		}
		var c busv1alpha1.Command
		err := r.api.Get(ctx, client.ObjectKeyFromObject(&cached.Items[i]), &c)
		if apierrors.IsNotFound(err) || (err == nil && c.DeletionTimestamp != nil) {
			continue
		}
		if err != nil {
			return nil, false, fmt.Errorf("command %s: %w", cached.Items[i].Name, err)
		}
		return &c, i < len(cached.Items)-1, nil
	}
	return nil, false, nil
}

// forgetCommands deletes the commands for a queue that does not exist, so that they do not affect a later queue with
// the same name.
func (r *Reconciler) forgetCommands(ctx context.Context, queue string) error {
	var left busv1alpha1.CommandList
	if err := r.cache.List(ctx, &left, client.MatchingFields{index.CommandTarget: index.TargetValue("Queue", queue)}); err != nil {
		return fmt.Errorf("commands for queue %s: %w", queue, err)
	}
	slices.SortFunc(left.Items, func(x, y busv1alpha1.Command) int { return index.CompareAge(&x, &y) })
	for i := range left.Items {
		if !index.IsQueueCommand(&left.Items[i]) {
			continue
		}
		if err := r.deleteStrayCommand(ctx, &left.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// deleteStrayCommand deletes a command if its queue does not exist. It checks this with the API server, because the
// cache may not show a new queue yet.
func (r *Reconciler) deleteStrayCommand(ctx context.Context, c *busv1alpha1.Command) error {
	var q schedulingv1beta1.Queue
	err := r.api.Get(ctx, types.NamespacedName{Name: c.TargetObject.Name}, &q)
	if client.IgnoreNotFound(err) != nil || (err == nil && isMeantFor(c, &q)) {
		return err
	}
	return r.deleteCommand(ctx, c)
}

// deleteCommand deletes this command, identified by its UID.
func (r *Reconciler) deleteCommand(ctx context.Context, c *busv1alpha1.Command) error {
	uid := c.UID
	err := r.api.Delete(ctx, c, client.Preconditions{UID: &uid})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return fmt.Errorf("command %s: %w", c.Name, err)
}

// isMeantFor reports whether a command is for this queue and not for an older queue with the same name.
func isMeantFor(c *busv1alpha1.Command, q *schedulingv1beta1.Queue) bool {
	return c.TargetObject.UID == "" || c.TargetObject.UID == q.UID
}

// recordResult records the result of a command as an event.
func (r *Reconciler) recordResult(q *schedulingv1beta1.Queue, c *busv1alpha1.Command, p *plan) {
	switch {
	case p.refusal != "":
		r.recorder.Event(q, corev1.EventTypeWarning, c.Action, p.refusal)
	case c.Action == string(busv1alpha1.OpenQueueAction):
		r.recorder.Event(q, corev1.EventTypeNormal, c.Action, "Open queue succeed")
	case c.Action == string(busv1alpha1.CloseQueueAction):
		r.recorder.Event(q, corev1.EventTypeNormal, c.Action, "Close queue succeed")
	default:
		r.recorder.Eventf(q, corev1.EventTypeWarning, "CommandIssued", "Command %s ignored: action %q is not supported for a queue; supported actions: %s, %s",
			c.Name, c.Action, busv1alpha1.OpenQueueAction, busv1alpha1.CloseQueueAction)
	}
}
