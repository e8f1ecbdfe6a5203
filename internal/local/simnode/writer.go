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

// outcome is the result of a step.
type outcome uint8

const (
	written   outcome = iota
	failed            // retry
	gone              // the pod no longer exists
	unchanged         // no step was due
)

// writer carries out the steps of pods.
type writer struct {
	client kubernetes.Interface
	table  *table
	log    logr.Logger
}

// performStep carries out the step of a busy entry that is due.
func (w *writer) performStep(ctx context.Context, e *entry) {
	what, after, hostIP := w.table.beginDueStep(e)
	if what == stepNone {
		w.table.finishStep(e, after, unchanged)
		return
	}
	err := w.writeStepResult(ctx, what, &after, hostIP)
	w.table.finishStep(e, after, outcomeOfWrite(what, err))
	if err != nil && ctx.Err() == nil && outcomeOfWrite(what, err) == failed {
		w.log.Error(err, "simulated pod: write", "pod", e.name, "node", e.node)
	}
}

// writeStepResult writes the result of a step to the pod.
func (w *writer) writeStepResult(ctx context.Context, what step, after *record, hostIP string) error {
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

// deleteNow returns options for deleting the pod with the given UID immediately.
func deleteNow(uid types.UID) metav1.DeleteOptions {
	none := int64(0)
	return metav1.DeleteOptions{GracePeriodSeconds: &none, Preconditions: &metav1.Preconditions{UID: &uid}}
}

// outcomeOfWrite interprets the API server's response. A conflict always concerns the UID, because patches and
// deletions contain no resource version.
func outcomeOfWrite(what step, err error) outcome {
	switch {
	case err == nil && what == stepRemove, apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return gone
	case err == nil:
		return written
	default:
		return failed
	}
}

// reportProblems records an event about invalid annotations on the pod.
func (w *writer) reportProblems(ctx context.Context, pod types.NamespacedName, uid types.UID, problems []problem) {
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

// component is the source of the fleet's events.
const component = "simulated-node"

// reasonBadAnnotation is the reason of events about invalid annotations.
const reasonBadAnnotation = "InvalidSimulation"
