package queue

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/queueusage"
)

// waitForQueue waits until reached returns true for a queue. state describes the queue's current state in one word.
func waitForQueue(ctx context.Context, f *cli.Factory, c client.WithWatch, wait *cli.Wait, queue *schedulingv1beta1.Queue, reached func(*schedulingv1beta1.Queue) bool,
	state func(*schedulingv1beta1.Queue) string) (*schedulingv1beta1.Queue, error) {
	limited, cancel := wait.LimitContext(ctx)
	defer cancel()
	last := queue
	err := cli.FollowObject(limited, f.RetryingClient(c), newQueueList, client.ObjectKeyFromObject(queue), queue.UID, func(now *schedulingv1beta1.Queue) (bool, error) {
		last = now
		return reached(now), nil
	})
	switch {
	case errors.Is(err, cli.ErrGone):
		return last, f.DeletedError("queue", "queue", queue.Name)
	case limited.Err() != nil && ctx.Err() == nil:
		return last, wait.TimeoutError("queue "+queue.Name, state(last))
	}
	return last, err
}

// waitForDeletion waits until a queue no longer exists.
func waitForDeletion(ctx context.Context, f *cli.Factory, c client.WithWatch, wait *cli.Wait, queue *schedulingv1beta1.Queue) error {
	limited, cancel := wait.LimitContext(ctx)
	defer cancel()
	err := cli.FollowObject(limited, f.RetryingClient(c), newQueueList, client.ObjectKeyFromObject(queue), queue.UID, func(*schedulingv1beta1.Queue) (bool, error) { return false, nil })
	switch {
	case errors.Is(err, cli.ErrGone):
		return nil
	case limited.Err() != nil && ctx.Err() == nil:
		return wait.TimeoutError("the deletion of queue "+queue.Name, "the object still exists")
	}
	return err
}

// stateText describes a queue's state for the error about a wait that timed out.
func stateText(q *schedulingv1beta1.Queue) string {
	if text := jobCountsText(q); text != "" {
		return fmt.Sprintf("%s; %s", effectiveState(q), text)
	}
	return string(effectiveState(q))
}

// excessText describes how far a queue's usage exceeds its capability. It returns "" if it does not.
func excessText(q *schedulingv1beta1.Queue) string {
	for _, name := range queueusage.ResourceNames(q) {
		held, limit := q.Status.Allocated[name], q.Spec.Capability[name]
		if _, limited := q.Spec.Capability[name]; limited && held.Cmp(limit) > 0 {
			return fmt.Sprintf("it uses %s %s, but its limit is %s", held.String(), cli.ShortResource(name), limit.String())
		}
	}
	return ""
}

func newQueueList() client.ObjectList { return &schedulingv1beta1.QueueList{} }
