package doctor

import (
	"context"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func checkQueues(ctx context.Context, r *reader) []Finding {
	queues := map[string]*schedulingv1beta1.Queue{}
	for _, name := range []string{keys.RootQueue, keys.DefaultQueue} {
		queue := &schedulingv1beta1.Queue{}
		found, problem := r.read(ctx, queue, "queue", "", name)
		if problem != nil {
			return []Finding{*problem}
		}
		if found {
			queues[name] = queue
		}
	}
	return decideQueues(queues)
}

// decideQueues returns the findings about the queues root and default. A queue that does not exist is not in the map.
func decideQueues(queues map[string]*schedulingv1beta1.Queue) []Finding {
	var findings []Finding
	for _, name := range []string{keys.RootQueue, keys.DefaultQueue} {
		switch queue := queues[name]; {
		case queue == nil:
			findings = append(findings, failed("start the scheduler, which creates the queue", "queue %s does not exist", name))
		case queue.Status.State == "":
			findings = append(findings, warning("check that the controllers are running", "queue %s has no state yet", name))
		case queue.Status.State != schedulingv1beta1.QueueStateOpen:
			findings = append(findings, failed("open the queue: vcctl queue open "+name, "queue %s is in state %s: new jobs are rejected", name, queue.Status.State))
		}
	}
	return orFine(findings, ok("the queues root and default exist and are open"))
}
