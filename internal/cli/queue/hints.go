package queue

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// addQueueHints adds a hint to each validation error of a queue.
func addQueueHints(err error, queue *schedulingv1beta1.Queue, around *check.Around) error {
	return cli.AddHints(err, func(e *usererror.Error) string {
		var invalid *field.Error
		if !errors.As(e, &invalid) {
			return ""
		}
		return queueHint(invalid, queue, around)
	})
}

func queueHint(invalid *field.Error, queue *schedulingv1beta1.Queue, around *check.Around) string {
	switch path := invalid.Field; {
	case path == "spec.parent":
		var names []string
		if around.Queues != nil {
			for _, q := range around.Queues.Queues() {
				names = append(names, q.Name)
			}
		}
		if near := cli.FindNearest(queue.Spec.Parent, names); near != "" && near != queue.Spec.Parent {
			return fmt.Sprintf("did you mean %q?", near)
		}
		return "vcctl queue tree shows the existing queues"
	case path == "metadata.name" && queue.Name == keys.DefaultQueue:
		return "jobs that specify no queue use the default queue; to reject these jobs, use `vcctl queue close default`"
	case path == "metadata.name" && queue.Name == keys.RootQueue:
		return "delete the queues below root by name instead; vcctl queue tree shows them"
	case path == "metadata.name" && hasChildQueues(queue, around):
		return "delete the child queues in the same command: vcctl queue delete accepts several names"
	case path == "spec.jobLimits.defaultRunTime":
		return "lower --default-run-time or raise --max-run-time"
	case strings.HasPrefix(path, "spec.deserved"), strings.HasPrefix(path, "spec.capability"), strings.HasPrefix(path, "spec.guarantee"):
		return "each queue requires guarantee <= deserved <= capability, and child queues must stay within their parent's values; vcctl queue tree -o wide shows the values"
	}
	return ""
}

// hasChildQueues reports whether the queue is known to have child queues, which must be deleted before it.
func hasChildQueues(queue *schedulingv1beta1.Queue, around *check.Around) bool {
	return around.Queues != nil && len(around.Queues.Children(queue.Name)) > 0
}
