package jobrow

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
)

// SnapshotReport returns the explanation of a job, as shown by `vcctl job explain`, based only on the snapshot, which
// has reduced pods and only the latest events. A Reading has more data.
func SnapshotReport(snap *snapshot.Snapshot, job *snapshot.Job) *jobstatus.Report {
	sheet := sheetWithoutPods(snap, job)
	if a, enough := jobstatus.NewReportWithoutPods(sheet); enough {
		return a
	}
	for _, pod := range job.Pods {
		sheet.Pods = append(sheet.Pods, toAPIPod(pod))
	}
	for _, event := range EventsOfJob(snap, job) {
		sheet.Events = append(sheet.Events, toAPIEvent(event))
	}
	return jobstatus.NewReport(sheet)
}

// sheetWithoutPods returns the data about a job without its pods and events.
func sheetWithoutPods(snap *snapshot.Snapshot, job *snapshot.Job) *jobstatus.Sheet {
	_, hidden := snap.HiddenKind(snapshot.PodGroups)
	return &jobstatus.Sheet{Job: job.Object, Group: job.Group, Unreadable: hidden && job.Group == nil}
}

// EventsOfJob returns the events about a job, its PodGroup and its pods, with the newest last.
func EventsOfJob(snap *snapshot.Snapshot, job *snapshot.Job) []*snapshot.Event {
	about := map[types.UID]bool{job.UID: true}
	if job.Group != nil {
		about[job.Group.UID] = true
	}
	for _, pod := range job.Pods {
		about[pod.UID] = true
	}
	var events []*snapshot.Event
	for _, event := range snap.Events {
		if about[event.Of] {
			events = append(events, event)
		}
	}
	return events
}

// toAPIPod converts a pod to an API object that has the fields used in explanations.
func toAPIPod(p *snapshot.Pod) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Labels: map[string]string{keys.TaskSpec: p.Task}},
		Spec:       corev1.PodSpec{NodeName: p.Node},
		Status:     corev1.PodStatus{Phase: p.Phase},
	}
	status := corev1.ContainerStatus{RestartCount: p.Restarts}
	if len(p.Containers) > 0 {
		status.Name = p.Containers[0]
	}
	switch {
	case p.Trouble != "":
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: p.Trouble, Message: p.Message}
	case p.Exited:
		status.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: p.ExitCode, FinishedAt: metav1.NewTime(p.Ended.Time())}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	return pod
}

func toAPIEvent(e *snapshot.Event) corev1.Event {
	return corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{UID: e.UID},
		InvolvedObject: corev1.ObjectReference{Kind: e.Kind, Namespace: e.Namespace, Name: e.Name, UID: e.Of},
		Type:           e.Type, Reason: e.Reason, Message: e.Message, Count: e.Count, LastTimestamp: metav1.NewTime(e.At),
	}
}
