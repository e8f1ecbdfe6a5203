package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/apiclient"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/podtermination"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Reasons for conditions and events on pods. They are the same as in Volcano if Volcano has an equivalent.
const (
	reasonScheduled  = "Scheduled"
	reasonEvict      = "Evict"
	reasonPreemption = "PreemptionByScheduler"
)

// podWriteKey returns the key of all writes for a pod. Sharing a key ensures that a condition and a bind never overtake
// each other.
func podWriteKey(o decision.Object) string { return "pod/" + o.Namespace + "/" + o.Name }

// firstBindWrite returns the first write of the sequence that binds a pod.
func (o *Outbox) firstBindWrite(b *decision.Bind, now time.Time) *write {
	if b.Attach != nil {
		return o.attachWrite(b, now)
	}
	return o.newBindWrite(b)
}

func (o *Outbox) newBindWrite(b *decision.Bind) *write {
	pod, node, notes := b.Pod, b.Node, b.Annotations
	gang := b.Gang.Key()
	if b.Gang.UID == "" {
		gang = podWriteKey(pod)
	}
	return &write{
		lane: bindLane, key: podWriteKey(pod), gang: gang,
		send: func(ctx context.Context) error {
			err := o.o.API.Bind(ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Annotations: notes},
				Target:     corev1.ObjectReference{Kind: "Node", Name: node},
			})
			if apierrors.IsConflict(err) {
				return o.explainConflict(ctx, pod, node, err)
			}
			return err
		},
		settled: func(err error) {
			if err != nil {
				o.reportAfterPause(err, model.BindFailed{UID: pod.UID, Err: err.Error()})
				return
			}
			message := "Successfully assigned " + pod.Namespace + "/" + pod.Name + " to " + node
			o.engine.queueWrites(o.newEventWrite(idleLane, podReference(pod), corev1.EventTypeNormal, reasonScheduled, message, o.o.Clock.Now()))
		},
	}
}

// explainConflict reads the pod after a bind was rejected. It returns nil if an earlier attempt had succeeded and
// only its response was lost.
func (o *Outbox) explainConflict(ctx context.Context, pod decision.Object, node string, conflict error) error {
	uid, boundTo, err := o.o.API.PodNode(ctx, pod.Namespace, pod.Name)
	switch {
	case err != nil:
		return err
	case uid == pod.UID && boundTo == node:
		return nil
	case uid == pod.UID && boundTo != "":
		return apierrors.NewConflict(corev1.Resource("pods"), pod.Name, fmt.Errorf("pod is already bound to %s", boundTo))
	}
	return conflict
}

// newEvictWrites returns the writes for an eviction. There is one write for the victim's conditions and its deletion,
// and one for each event.
func (o *Outbox) newEvictWrites(e *decision.Evict, now time.Time) []*write {
	pod := e.Pod
	patch := encodeJSON(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status": map[string]any{"conditions": []map[string]any{
			podConditionPatch(corev1.DisruptionTarget, corev1.ConditionTrue, reasonPreemption,
				podtermination.EvictionMessage(o.o.SchedulerName, e.Message), now),
			podConditionPatch(corev1.PodReady, corev1.ConditionFalse, reasonEvict, "Pod is evicted: "+e.Message, now),
		}},
	})
	writes := []*write{{
		lane: evictLane, key: podWriteKey(pod),
		send: func(ctx context.Context) error {
			err := o.o.API.PatchPodStatus(ctx, pod.Namespace, pod.Name, patch)
			switch {
			case apierrors.IsNotFound(err):
				return nil
			case err != nil && !apierrors.IsConflict(err) && !apiclient.IsOtherObject(err):
				return err
			}
			// There may be a new pod with the same name, or this pod was changed concurrently. The deletion specifies the
			// UID, so it can affect only this pod.
			if err := o.checkFence(); err != nil {
				return err
			}
			return ignoreGone(o.o.API.DeletePod(ctx, pod.Namespace, pod.Name, pod.UID))
		},
		settled: func(err error) {
			if err != nil {
				o.reportAfterPause(err, model.EvictFailed{UID: pod.UID, Err: err.Error()})
			}
		},
	}}
	writes = append(writes, o.newEventWrite(statusLane, podReference(pod), corev1.EventTypeWarning, reasonEvict, "Pod is evicted: "+e.Message, now))
	if e.Gang.UID != "" {
		writes = append(writes, o.newEventWrite(statusLane, podGroupReference(e.Gang), corev1.EventTypeNormal, reasonEvict, e.Message, now))
	}
	if e.Preemptor.UID != "" && e.PreemptorMessage != "" {
		writes = append(writes, o.newEventWrite(statusLane, podGroupReference(e.Preemptor), corev1.EventTypeNormal, reasonEvict, e.PreemptorMessage, now))
	}
	return writes
}

// podConditionWrite returns a write of the condition that explains why a pod is waiting. It is an idle write, and it is
// dropped once the pod is bound.
func (o *Outbox) podConditionWrite(p *decision.PodCondition, now time.Time) *write {
	pod := p.Pod
	patch := encodeJSON(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status": map[string]any{"conditions": []map[string]any{
			podConditionPatch(corev1.PodScheduled, corev1.ConditionFalse, p.Reason, p.Message, now),
		}},
	})
	return &write{
		lane: idleLane, key: podWriteKey(pod),
		send: func(ctx context.Context) error {
			return ignoreMissing(o.o.API.PatchPodStatus(ctx, pod.Namespace, pod.Name, patch))
		},
		settled: func(err error) {
			if err != nil {
				o.reportAfterPause(err, model.PodConditionFailed{UID: pod.UID})
			}
		},
	}
}

// newUngateWrite returns a write that removes the queue gate from a pod.
func (o *Outbox) newUngateWrite(pod decision.Object) *write {
	patch := encodeJSON(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"spec":     map[string]any{"schedulingGates": []map[string]any{{"$patch": "delete", "name": keys.QueueAllocationGate}}},
	})
	return &write{
		lane: statusLane, key: "gate/" + pod.Key(),
		send: func(ctx context.Context) error {
			return ignoreMissing(o.o.API.PatchPod(ctx, pod.Namespace, pod.Name, patch))
		},
		settled: func(err error) {
			if err != nil {
				o.reportAfterPause(err, model.UngateFailed{UID: pod.UID})
			}
		},
	}
}

func (o *Outbox) newNominationWrite(n *decision.Nomination) *write {
	pod := n.Pod
	var node any
	if n.Node != "" {
		node = n.Node
	}
	patch := encodeJSON(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   map[string]any{"nominatedNodeName": node},
	})
	return &write{
		lane: statusLane, key: "nomination/" + pod.Key(),
		send: func(ctx context.Context) error {
			return ignoreMissing(o.o.API.PatchPodStatus(ctx, pod.Namespace, pod.Name, patch))
		},
	}
}

func podConditionPatch(kind corev1.PodConditionType, status corev1.ConditionStatus, reason, message string, now time.Time) map[string]any {
	return map[string]any{
		"type": kind, "status": status, "reason": reason, "message": message,
		"lastTransitionTime": metav1.NewTime(now),
	}
}

// ignoreGone returns nil for errors which mean that the pod to delete does not exist, or that another pod has its name.
// It returns all other errors unchanged.
func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// encodeJSON encodes a value that consists of strings, numbers and API types. Encoding such a value cannot fail.
func encodeJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("cannot encode a patch: %v", err))
	}
	return data
}
