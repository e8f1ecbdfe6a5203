package demo

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
)

// PodsByJob returns the jobs' complete pods by the job's UID. A snapshot has only reduced pods.
func PodsByJob(objects []runtime.Object) map[types.UID][]*corev1.Pod {
	pods := map[types.UID][]*corev1.Pod{}
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok && len(pod.OwnerReferences) > 0 {
			owner := pod.OwnerReferences[0].UID
			pods[owner] = append(pods[owner], pod)
		}
	}
	return pods
}

// toldPods is the number of a job's pods that have events.
const toldPods = 8

// NewJobSheet returns the details of a job: its complete pods, and events of the job, its PodGroup and its pods, as
// controllers, scheduler and kubelets would record them.
func NewJobSheet(job *snapshot.Job, pods []*corev1.Pod) *jobstatus.Sheet {
	t := teller{job: job}
	submitted := job.Submitted
	if job.Group != nil {
		about := corev1.ObjectReference{Kind: "PodGroup", Namespace: job.Namespace, Name: job.Group.Name, UID: job.Group.UID}
		if why := job.Group.Status.Explanation; why != nil {
			t.appendEvent(about, submitted.Add(2*time.Second), corev1.EventTypeWarning, "Unschedulable", 3, why.Message)
		} else if job.Bound > 0 {
			t.appendEvent(about, submitted.Add(time.Second), corev1.EventTypeNormal, "Scheduled", 1, "pod group is ready")
		}
	}
	for _, pod := range pods[:min(len(pods), toldPods)] {
		t.appendPodEvents(pod)
	}
	if job.Failed > 0 {
		about := corev1.ObjectReference{Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID}
		t.appendEvent(about, Now.Add(-170*time.Second), corev1.EventTypeNormal, "ExecuteAction", 1, "Execute action RestartTask after 10m0s: a pod of task worker failed")
	}
	slices.SortStableFunc(t.events, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	return &jobstatus.Sheet{Job: job.Object, Group: job.Group, Pods: pods, Events: t.events}
}

// teller collects events about a job.
type teller struct {
	job    *snapshot.Job
	events []corev1.Event
}

// kept is the time for which a server stores events.
const kept = time.Hour

func (t *teller) appendEvent(about corev1.ObjectReference, at time.Time, kind, reason string, times int32, message string) {
	if Now.Sub(at) > kept {
		return
	}
	t.events = append(t.events, corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%d", about.Name, len(t.events)), Namespace: about.Namespace, UID: types.UID(fmt.Sprintf("told-%s-%03d", t.job.UID, len(t.events)))},
		Type:       kind, Reason: reason, Message: message, Count: times, LastTimestamp: metav1.NewTime(at), FirstTimestamp: metav1.NewTime(at), InvolvedObject: about,
	})
}

func (t *teller) appendPodEvents(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" {
		return
	}
	about := corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
	image := pod.Spec.Containers[0].Image
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled {
			t.appendEvent(about, condition.LastTransitionTime.Time, corev1.EventTypeNormal, "Scheduled", 1, "Successfully assigned "+pod.Namespace+"/"+pod.Name+" to "+pod.Spec.NodeName)
		}
	}
	for _, container := range pod.Status.ContainerStatuses {
		switch state := container.State; {
		case state.Running != nil:
			t.appendEvent(about, state.Running.StartedAt.Time, corev1.EventTypeNormal, "Started", 1, "Container started")
		case state.Terminated != nil:
			t.appendEvent(about, state.Terminated.FinishedAt.Time, corev1.EventTypeWarning, "Failed", 1, "Container ended: "+state.Terminated.Message)
		case state.Waiting != nil && state.Waiting.Message != "":
			t.appendEvent(about, Now.Add(-20*time.Second), corev1.EventTypeWarning, "BackOff", 12, state.Waiting.Message)
		case state.Waiting != nil:
			t.appendEvent(about, Now.Add(-10*time.Second), corev1.EventTypeNormal, "Pulling", 1, "Pulling image "+image)
		}
	}
}
