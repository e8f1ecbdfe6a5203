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

// gangStatusWrite returns a write that replaces the whole status of a PodGroup, because only the scheduler writes it.
// The test operation prevents a write to a new PodGroup with the same name.
func (o *Outbox) gangStatusWrite(g *decision.GangStatus) *write {
	gang := g.Gang
	ops := []map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": gang.UID},
		{"op": "add", "path": "/status", "value": &g.Status},
	}
	if g.HyperNode != nil {
		ops = append(ops, hyperNodeOps(*g.HyperNode, g.Annotated)...)
	}
	patch := encodeJSON(ops)
	return &write{
		lane: laneForStatus(&g.Status), key: "podgroup/" + gang.Key(),
		send: func(ctx context.Context) error {
			return ignoreMissing(o.o.API.PatchPodGroup(ctx, gang.Namespace, gang.Name, patch))
		},
		settled: func(err error) {
			if err != nil {
				o.reportAfterPause(err, model.GangStatusFailed{UID: gang.UID})
			}
		},
	}
}

// hyperNodeOps returns the patch operations that record the HyperNode of a PodGroup. If the PodGroup got its first
// annotations after the scheduler read it, the test operation fails, so that these annotations are not overwritten.
// The write is then repeated.
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

// hyperNodeStatusWrite returns a write that applies the status computed for a HyperNode.
func (o *Outbox) hyperNodeStatusWrite(h *decision.HyperNodeStatus) *write {
	patch := encodeJSON(map[string]any{
		"apiVersion": topologyv1alpha1.GroupVersion.String(),
		"kind":       "HyperNode",
		"metadata":   map[string]any{"name": h.HyperNode},
		"status":     topologyv1alpha1.HyperNodeStatus{NodeCount: int64(h.NodeCount), Conditions: []metav1.Condition{h.Ready}},
	})
	return &write{
		lane: statusLane, key: "hypernode/" + h.HyperNode,
		send: func(ctx context.Context) error {
			return ignoreMissing(o.o.API.ApplyHyperNodeStatus(ctx, h.HyperNode, patch))
		},
		settled: func(err error) {
			if err != nil {
				o.reportAfterPause(err, model.HyperNodeStatusFailed{Name: h.HyperNode})
			}
		},
	}
}

// laneForStatus returns the lane for the status of a PodGroup. The status of a running gang without an explanation
// belongs to infoLane, because the gang's pods already show that it is running. All other statuses belong to
// statusLane, because controllers or users are waiting for them.
func laneForStatus(s *schedulingv1beta1.PodGroupStatus) lane {
	if s.Phase == schedulingv1beta1.PodGroupRunning && s.Explanation == nil {
		return infoLane
	}
	return statusLane
}

// queueStatusWrite returns a write that applies the scheduler's fields of a queue's status. With server-side apply, it
// does not affect the fields of the queue controller, and it removes amounts that are no longer listed.
func (o *Outbox) queueStatusWrite(q *decision.QueueStatus) *write {
	name := q.Queue
	status := map[string]any{"allocated": emptyIfNil(q.Allocated), "deserved": emptyIfNil(q.Deserved), "sharePercent": q.SharePercent, "waiting": q.Waiting}
	if len(q.Terminating) > 0 { // server-side apply removes the field if it is absent
		status["terminating"] = q.Terminating
	}
	if q.Invalid != nil {
		status["conditions"] = []metav1.Condition{*q.Invalid}
	}
	patch := encodeJSON(map[string]any{
		"apiVersion": schedulingv1beta1.GroupVersion.String(),
		"kind":       "Queue",
		"metadata":   map[string]any{"name": name},
		"status":     status,
	})
	return &write{
		lane: statusLane, key: "queue/" + name,
		send: func(ctx context.Context) error {
			return ignoreMissing(o.o.API.ApplyQueueStatus(ctx, name, patch))
		},
		settled: func(err error) {
			if err != nil {
				o.reportAfterPause(err, model.QueueStatusFailed{Name: name})
			}
		},
	}
}

func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// emptyIfNil returns list, or an empty list if list is nil, because nil would be encoded as null.
func emptyIfNil(list corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		return corev1.ResourceList{}
	}
	return list
}
