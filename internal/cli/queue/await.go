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

// await waits until reached returns true for a queue. state describes the queue's current state in one word.
func await(ctx context.Context, f *cli.Factory, c client.WithWatch, wait *cli.Wait, queue *schedulingv1beta1.Queue, reached func(*schedulingv1beta1.Queue) bool,
	state func(*schedulingv1beta1.Queue) string) (*schedulingv1beta1.Queue, error) {
	limited, cancel := wait.Limit(ctx)
	defer cancel()
	last := queue
	err := cli.Follow(limited, f.Patient(c), newQueues, client.ObjectKeyFromObject(queue), queue.UID, func(now *schedulingv1beta1.Queue) (bool, error) {
		last = now
		return reached(now), nil
	})
	switch {
	case errors.Is(err, cli.ErrGone):
		return last, f.Deleted("queue", "queue", queue.Name)
	case limited.Err() != nil && ctx.Err() == nil:
		return last, wait.TimedOut("queue "+queue.Name, state(last))
	}
	return last, err
}

// awaitGone waits until a queue no longer exists.
func awaitGone(ctx context.Context, f *cli.Factory, c client.WithWatch, wait *cli.Wait, queue *schedulingv1beta1.Queue) error {
	limited, cancel := wait.Limit(ctx)
	defer cancel()
	err := cli.Follow(limited, f.Patient(c), newQueues, client.ObjectKeyFromObject(queue), queue.UID, func(*schedulingv1beta1.Queue) (bool, error) { return false, nil })
	switch {
	case errors.Is(err, cli.ErrGone):
		return nil
	case limited.Err() != nil && ctx.Err() == nil:
		return wait.TimedOut("the deletion of queue "+queue.Name, "the object still exists")
	}
	return err
}

// stateText describes a queue's state for the error about a wait that timed out.
func stateText(q *schedulingv1beta1.Queue) string {
	if text := busy(q); text != "" {
		return fmt.Sprintf("%s; %s", stateOf(q), text)
	}
	return string(stateOf(q))
}

// excess describes how far a queue's usage exceeds its capability. It returns "" if it does not.
func excess(q *schedulingv1beta1.Queue) string {
	for _, name := range queueusage.ResourceNames(q) {
		held, limit := q.Status.Allocated[name], q.Spec.Capability[name]
		if _, limited := q.Spec.Capability[name]; limited && held.Cmp(limit) > 0 {
			return fmt.Sprintf("it uses %s %s, but its limit is %s", held.String(), cli.ShortResource(name), limit.String())
		}
	}
	return ""
}

func newQueues() client.ObjectList { return &schedulingv1beta1.QueueList{} }
