package queue

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/queueusage"
)

// waitForQueue waits until reached returns true for a queue. state describes the queue's current state in one word.
func waitForQueue(ctx context.Context, f *cli.Factory, c client.WithWatch, wait *cli.Wait, queue *schedulingv1beta1.Queue, reached func(*schedulingv1beta1.Queue) bool,
	state func(*schedulingv1beta1.Queue) string) (*schedulingv1beta1.Queue, error) {
	isReached := func(now *schedulingv1beta1.Queue) (bool, error) { return reached(now), nil }
	return cli.WaitForObject(ctx, f, c, wait, "queue", newQueueList, queue, isReached, state)
}

// stateText describes a queue's state for the error about a wait that timed out.
func stateText(q *schedulingv1beta1.Queue) string {
	if text := jobCountsText(q); text != "" {
		return fmt.Sprintf("%s; %s", effectiveState(q), text)
	}
	return string(effectiveState(q))
}

// excessText describes how far a queue's usage exceeds its capability. It returns "" if the usage does not exceed the
// capability.
func excessText(q *schedulingv1beta1.Queue) string {
	for _, name := range queueusage.ResourceNames(q) {
		held, limit := q.Status.Allocated[name], q.Spec.Capability[name]
		if _, limited := q.Spec.Capability[name]; limited && held.Cmp(limit) > 0 {
			return fmt.Sprintf("the queue uses %s %s, but its limit is %s", held.String(), cli.ShortResource(name), limit.String())
		}
	}
	return ""
}

func newQueueList() client.ObjectList { return &schedulingv1beta1.QueueList{} }
