package simnode

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// outcome is how carrying out a step ended.
type outcome uint8

const (
	written   outcome = iota
	failed            // try again
	gone              // the pod is no longer there
	unchanged         // nothing was due after all
)

// writer carries steps out.
type writer struct {
	client kubernetes.Interface
	table  *table
	log    logr.Logger
}

// handle carries out the step that is due for a busy entry.
func (w *writer) handle(ctx context.Context, e *entry) {
	what, after, hostIP := w.table.begin(e)
	if what == stepNone {
		w.table.finish(e, after, unchanged)
		return
	}
	err := w.carryOut(ctx, what, &after, hostIP)
	w.table.finish(e, after, outcomeOf(what, err))
	if err != nil && ctx.Err() == nil && outcomeOf(what, err) == failed {
		w.log.Error(err, "simulated pod: write", "pod", e.name, "node", e.node)
	}
}

// carryOut writes what a step did to a pod.
func (w *writer) carryOut(ctx context.Context, what step, after *record, hostIP string) error {
	pods := w.client.CoreV1().Pods(after.name.Namespace)
	if what == stepRemove {
		return pods.Delete(ctx, after.name.Name, deleteNow(after.uid))
	}
	patch, err := after.statusPatch(hostIP)
	if err != nil {
		return err
	}
	_, err = pods.Patch(ctx, after.name.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// deleteNow removes the pod of this uid without waiting for anybody.
func deleteNow(uid types.UID) metav1.DeleteOptions {
	none := int64(0)
	return metav1.DeleteOptions{GracePeriodSeconds: &none, Preconditions: &metav1.Preconditions{UID: &uid}}
}

// outcomeOf reads an answer of the API server. A conflict can only be about the
// uid: patches and deletions name no resource version.
func outcomeOf(what step, err error) outcome {
	switch {
	case err == nil && what == stepRemove, apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return gone
	case err == nil:
		return written
	default:
		return failed
	}
}

// report tells, on the pod, which of its annotations could not be read.
func (w *writer) report(ctx context.Context, pod types.NamespacedName, uid types.UID, problems []problem) {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.String()
	}
	now := metav1.NewTime(time.Now())
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: pod.Name + ".", Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: uid},
		Type:           corev1.EventTypeWarning, Reason: reasonBadAnnotation, Message: strings.Join(texts, "; "),
		Source: corev1.EventSource{Component: component}, ReportingController: component,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	if _, err := w.client.CoreV1().Events(pod.Namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil && ctx.Err() == nil {
		w.log.Error(err, "simulated pod: event", "pod", pod, "message", fmt.Sprint(texts))
	}
}

// component signs the fleet's events.
const component = "simulated-node"

// reasonBadAnnotation is the reason of the event about annotations that cannot be read.
const reasonBadAnnotation = "InvalidSimulation"
