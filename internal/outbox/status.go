package outbox

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// gangStatus replaces the whole status of a PodGroup: the scheduler is its only
// writer. The test operation keeps it off a successor of the same name.
func (o *Outbox) gangStatus(g *decision.GangStatus) *write {
	gang := g.Gang
	patch := mustJSON([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": gang.UID},
		{"op": "add", "path": "/status", "value": &g.Status},
	})
	return &write{
		lane: statusLane, key: "podgroup/" + gang.Key(),
		send: func(ctx context.Context) error {
			return missingIsDone(o.o.API.PatchPodGroup(ctx, gang.Namespace, gang.Name, patch))
		},
		settled: func(err error) {
			if err != nil {
				o.patiently(err, model.GangStatusFailed{UID: gang.UID})
			}
		},
	}
}

// queueStatus applies the one field of a queue's status that is the
// scheduler's. Being applied, it leaves the queue controller's fields alone,
// and amounts that are no longer named disappear.
func (o *Outbox) queueStatus(q *decision.QueueStatus) *write {
	name := q.Queue
	allocated := q.Allocated
	if allocated == nil {
		allocated = corev1.ResourceList{}
	}
	patch := mustJSON(map[string]any{
		"apiVersion": schedulingv1beta1.GroupVersion.String(),
		"kind":       "Queue",
		"metadata":   map[string]any{"name": name},
		"status":     map[string]any{"allocated": allocated},
	})
	return &write{
		lane: statusLane, key: "queue/" + name,
		send: func(ctx context.Context) error {
			return missingIsDone(o.o.API.ApplyQueueStatus(ctx, name, patch))
		},
		settled: func(err error) {
			if err != nil {
				o.patiently(err, model.QueueStatusFailed{Name: name})
			}
		},
	}
}

func missingIsDone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
