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
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// Reasons and types of what is written on pods; Volcano's words where it has them.
const (
	reasonScheduled  = "Scheduled"
	reasonEvict      = "Evict"
	reasonPreemption = "PreemptionByScheduler"
)

// podKey is shared by everything that writes a pod, so that a condition never
// overtakes a bind or the other way round.
func podKey(o decision.Object) string { return "pod/" + o.Namespace + "/" + o.Name }

// bindOne is the first of the writes that bind a pod.
func (o *Outbox) bindOne(b *decision.Bind, now time.Time) *write {
	if b.Attach != nil {
		return o.attachFirst(b, now)
	}
	return o.bind(b)
}

func (o *Outbox) bind(b *decision.Bind) *write {
	pod, node, notes := b.Pod, b.Node, b.Annotations
	gang := b.Gang.Key()
	if b.Gang.UID == "" {
		gang = podKey(pod)
	}
	return &write{
		lane: bindLane, key: podKey(pod), gang: gang,
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
				o.patiently(err, model.BindFailed{UID: pod.UID, Err: err.Error()})
				return
			}
			message := "Successfully assigned " + pod.Namespace + "/" + pod.Name + " to " + node
			o.engine.put(o.event(idleLane, podRef(pod), corev1.EventTypeNormal, reasonScheduled, message, time.Now()))
		},
	}
}

// explainConflict finds out whether a refused bind had in truth succeeded
// before, its answer lost.
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

// evict is the victim's conditions and deletion as one write, and the events on both sides.
func (o *Outbox) evict(e *decision.Evict, now time.Time) []*write {
	pod := e.Pod
	patch := mustJSON(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status": map[string]any{"conditions": []map[string]any{
			condition(corev1.DisruptionTarget, corev1.ConditionTrue, reasonPreemption,
				o.o.SchedulerName+": preempting to accommodate another workload: "+e.Message, now),
			condition(corev1.PodReady, corev1.ConditionFalse, reasonEvict, "Pod is evicted, because of "+e.Message, now),
		}},
	})
	writes := []*write{{
		lane: evictLane, key: podKey(pod),
		send: func(ctx context.Context) error {
			err := o.o.API.PatchPodStatus(ctx, pod.Namespace, pod.Name, patch)
			switch {
			case apierrors.IsNotFound(err):
				return nil
			case err != nil && !apierrors.IsConflict(err):
				return err
			}
			// A conflict may be a successor of the same name or only a busy pod: the
			// deletion, which names the uid, tells them apart.
			return goneIsDone(o.o.API.DeletePod(ctx, pod.Namespace, pod.Name, pod.UID))
		},
		settled: func(err error) {
			if err != nil {
				o.patiently(err, model.EvictFailed{UID: pod.UID, Err: err.Error()})
			}
		},
	}}
	writes = append(writes, o.event(statusLane, podRef(pod), corev1.EventTypeWarning, reasonEvict, "Pod is evicted, because of "+e.Message, now))
	if e.Gang.UID != "" {
		writes = append(writes, o.event(statusLane, podGroupRef(e.Gang), corev1.EventTypeNormal, reasonEvict, e.Message, now))
	}
	if e.Preemptor.UID != "" && e.PreemptorMessage != "" {
		writes = append(writes, o.event(statusLane, podGroupRef(e.Preemptor), corev1.EventTypeNormal, reasonEvict, e.PreemptorMessage, now))
	}
	return writes
}

// podCondition says on a pod why it waits. It gives way to everything else and
// is forgotten once the pod is bound.
func (o *Outbox) podCondition(p *decision.PodCondition, now time.Time) *write {
	pod := p.Pod
	patch := mustJSON(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status": map[string]any{"conditions": []map[string]any{
			condition(corev1.PodScheduled, corev1.ConditionFalse, p.Reason, p.Message, now),
		}},
	})
	return &write{
		lane: idleLane, key: podKey(pod),
		send: func(ctx context.Context) error {
			return missingIsDone(o.o.API.PatchPodStatus(ctx, pod.Namespace, pod.Name, patch))
		},
		settled: func(err error) {
			if err != nil {
				o.patiently(err, model.PodConditionFailed{UID: pod.UID})
			}
		},
	}
}

// ungate takes the gate of a pod's queue away.
func (o *Outbox) ungate(pod decision.Object) *write {
	patch := mustJSON(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"spec":     map[string]any{"schedulingGates": []map[string]any{{"$patch": "delete", "name": keys.QueueAllocationGate}}},
	})
	return &write{
		lane: statusLane, key: "gate/" + pod.Key(),
		send: func(ctx context.Context) error {
			return missingIsDone(o.o.API.PatchPod(ctx, pod.Namespace, pod.Name, patch))
		},
		settled: func(err error) {
			if err != nil {
				o.patiently(err, model.UngateFailed{UID: pod.UID})
			}
		},
	}
}

func (o *Outbox) nomination(n *decision.Nomination) *write {
	pod := n.Pod
	var node any
	if n.Node != "" {
		node = n.Node
	}
	patch := mustJSON(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   map[string]any{"nominatedNodeName": node},
	})
	return &write{
		lane: statusLane, key: "nomination/" + pod.Key(),
		send: func(ctx context.Context) error {
			return missingIsDone(o.o.API.PatchPodStatus(ctx, pod.Namespace, pod.Name, patch))
		},
	}
}

func condition(kind corev1.PodConditionType, status corev1.ConditionStatus, reason, message string, now time.Time) map[string]any {
	return map[string]any{
		"type": kind, "status": status, "reason": reason, "message": message,
		"lastTransitionTime": metav1.NewTime(now),
	}
}

// goneIsDone is about a deletion by uid: a missing pod, or another one of the
// same name, is success.
func goneIsDone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// mustJSON encodes what is made of strings, numbers and API types and so cannot fail.
func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("patch of constants and API types does not encode: %v", err))
	}
	return data
}
