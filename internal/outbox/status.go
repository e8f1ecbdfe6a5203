package outbox

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// gangStatus replaces the whole status of a PodGroup: the scheduler is its only
// writer. The test operation keeps it off a successor of the same name.
func (o *Outbox) gangStatus(g *decision.GangStatus) *write {
	gang := g.Gang
	ops := []map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": gang.UID},
		{"op": "add", "path": "/status", "value": &g.Status},
	}
	if g.HyperNode != nil {
		ops = append(ops, hyperNodeOps(*g.HyperNode, g.Annotated)...)
	}
	patch := mustJSON(ops)
	return &write{
		lane: laneOf(&g.Status), key: "podgroup/" + gang.Key(),
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

// hyperNodeOps note on a PodGroup in which HyperNode it is. Annotations that
// came up since it was read are kept: the test fails, and it is written again.
func hyperNodeOps(name string, annotated bool) []map[string]any {
	if annotated {
		key := strings.ReplaceAll(keys.AllocatedHyperNode, "/", "~1")
		return []map[string]any{{"op": "add", "path": "/metadata/annotations/" + key, "value": name}}
	}
	return []map[string]any{
		{"op": "test", "path": "/metadata/annotations", "value": nil},
		{"op": "add", "path": "/metadata/annotations", "value": map[string]string{keys.AllocatedHyperNode: name}},
	}
}

// hyperNodeStatus applies what the scheduler made of a HyperNode.
func (o *Outbox) hyperNodeStatus(h *decision.HyperNodeStatus) *write {
	patch := mustJSON(map[string]any{
		"apiVersion": topologyv1alpha1.GroupVersion.String(),
		"kind":       "HyperNode",
		"metadata":   map[string]any{"name": h.HyperNode},
		"status":     topologyv1alpha1.HyperNodeStatus{NodeCount: int64(h.NodeCount), Conditions: []metav1.Condition{h.Ready}},
	})
	return &write{
		lane: statusLane, key: "hypernode/" + h.HyperNode,
		send: func(ctx context.Context) error {
			return missingIsDone(o.o.API.ApplyHyperNodeStatus(ctx, h.HyperNode, patch))
		},
		settled: func(err error) {
			if err != nil {
				o.patiently(err, model.HyperNodeStatusFailed{Name: h.HyperNode})
			}
		},
	}
}

// laneOf tells a status that is waited for, by the controller that makes the
// gang's pods or by people who want to know why it waits, from one that only says
// what can be seen at its pods.
func laneOf(s *schedulingv1beta1.PodGroupStatus) lane {
	if s.Phase == schedulingv1beta1.PodGroupRunning && s.Explanation == nil {
		return toldLane
	}
	return statusLane
}

// queueStatus applies the fields of a queue's status that are the
// scheduler's. Being applied, it leaves the queue controller's fields alone,
// and amounts that are no longer named disappear.
func (o *Outbox) queueStatus(q *decision.QueueStatus) *write {
	name := q.Queue
	status := map[string]any{"allocated": orNone(q.Allocated), "deserved": orNone(q.Deserved), "sharePercent": q.SharePercent, "waiting": q.Waiting}
	if len(q.Terminating) > 0 { // applied, it disappears when it is no longer named
		status["terminating"] = q.Terminating
	}
	if q.Invalid != nil {
		status["conditions"] = []metav1.Condition{*q.Invalid}
	}
	patch := mustJSON(map[string]any{
		"apiVersion": schedulingv1beta1.GroupVersion.String(),
		"kind":       "Queue",
		"metadata":   map[string]any{"name": name},
		"status":     status,
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

// orNone is a list, never null.
func orNone(list corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		return corev1.ResourceList{}
	}
	return list
}
