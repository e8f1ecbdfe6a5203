package simnode

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// writer carries out the steps of pods.
type writer struct {
	client kubernetes.Interface
	table  *PodTable
	log    logr.Logger
}

// performStep carries out the step of a pod that is due.
func (w *writer) performStep(ctx context.Context, pod *DuePod) {
	write, isDue, err := w.table.BeginStep(pod)
	if isDue && err == nil {
		err = w.send(ctx, &write)
	}
	if w.table.FinishStep(pod, err) && ctx.Err() == nil {
		w.log.Error(err, "simulated pod: write", "pod", write.Pod)
	}
}

// send sends a write to the API server.
func (w *writer) send(ctx context.Context, write *Write) error {
	pods := w.client.CoreV1().Pods(write.Pod.Namespace)
	if write.StatusPatch == nil {
		return pods.Delete(ctx, write.Pod.Name, deleteNow(write.UID))
	}
	_, err := pods.Patch(ctx, write.Pod.Name, types.StrategicMergePatchType, write.StatusPatch, metav1.PatchOptions{}, "status")
	return err
}

// deleteNow returns options for deleting the pod with the given UID immediately.
func deleteNow(uid types.UID) metav1.DeleteOptions {
	none := int64(0)
	return metav1.DeleteOptions{GracePeriodSeconds: &none, Preconditions: &metav1.Preconditions{UID: &uid}}
}

// reportProblems records an event about invalid annotations on the pod.
func (w *writer) reportProblems(ctx context.Context, pod types.NamespacedName, uid types.UID, problems []string) {
	now := metav1.NewTime(time.Now())
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: pod.Name + ".", Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: uid},
		Type:           corev1.EventTypeWarning, Reason: reasonBadAnnotation, Message: strings.Join(problems, "; "),
		Source: corev1.EventSource{Component: component}, ReportingController: component,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	if _, err := w.client.CoreV1().Events(pod.Namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil && ctx.Err() == nil {
		w.log.Error(err, "simulated pod: event", "pod", pod, "message", fmt.Sprint(problems))
	}
}

// component is the source of the fleet's events.
const component = "simulated-node"

// reasonBadAnnotation is the reason of events about invalid annotations.
const reasonBadAnnotation = "InvalidSimulation"
