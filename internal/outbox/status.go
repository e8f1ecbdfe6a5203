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

// gangStatus replaces the whole status of a PodGroup, because the scheduler is its only writer. The test operation
// prevents a write to a new PodGroup with the same name.
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

// hyperNodeOps returns the patch operations that record a PodGroup's HyperNode. If the PodGroup got its first
// annotations after the scheduler read it, the test operation fails, which keeps those annotations; the write is then
// repeated.
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

// hyperNodeStatus applies the status that the scheduler computed for a HyperNode.
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

// laneOf returns the lane of a PodGroup's status. A running gang without an explanation goes to toldLane, because its
// pods already show that it runs. All other statuses go to statusLane: controllers or users wait for them.
func laneOf(s *schedulingv1beta1.PodGroupStatus) lane {
	if s.Phase == schedulingv1beta1.PodGroupRunning && s.Explanation == nil {
		return toldLane
	}
	return statusLane
}

// queueStatus applies the scheduler's fields of a queue's status. Server-side apply leaves the queue controller's
// fields alone and removes amounts that are no longer listed.
func (o *Outbox) queueStatus(q *decision.QueueStatus) *write {
	name := q.Queue
	status := map[string]any{"allocated": orNone(q.Allocated), "deserved": orNone(q.Deserved), "sharePercent": q.SharePercent, "waiting": q.Waiting}
	if len(q.Terminating) > 0 { // server-side apply removes the field when it is absent
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

// orNone returns list, or an empty list instead of nil, which would encode as null.
func orNone(list corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		return corev1.ResourceList{}
	}
	return list
}
