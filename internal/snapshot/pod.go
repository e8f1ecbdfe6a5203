package snapshot

import (
	"strconv"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// same returns a shared copy of text that many pods have in common.
func same(text string) string { return unique.Make(text).Value() }

// FromPod reduces a pod to the fields that are shown.
func FromPod(pod *corev1.Pod) *Pod {
	p := &Pod{
		UID: pod.UID, Namespace: same(pod.Namespace), Name: pod.Name, Node: same(pod.Spec.NodeName), JobID: same(pod.Labels[keys.JobID]), Task: same(jobstatus.TaskOf(pod)),
		Phase: corev1.PodPhase(same(string(pod.Status.Phase))), State: same(jobstatus.PodStatus(pod)), Ready: same(jobstatus.PodReady(pod)), Restarts: jobstatus.Restarts(pod),
		Terminating: pod.DeletionTimestamp != nil, Created: pod.CreationTimestamp.Time,
		Stays: jobstatus.StaysAtDrain(pod), Alone: metav1.GetControllerOfNoCopy(pod) == nil, KeepsData: jobstatus.KeepsLocalData(pod),
	}
	for i := range pod.OwnerReferences {
		if o := &pod.OwnerReferences[i]; o.Kind == "Job" && o.APIVersion == batchv1alpha1.GroupVersion.String() {
			p.Job, p.JobUID = same(o.Name), types.UID(same(string(o.UID)))
		}
	}
	if index, err := strconv.ParseInt(pod.Labels[keys.TaskIndex], 10, 32); err == nil {
		p.Index = int32(index)
	}
	for i := range pod.Spec.Containers {
		p.Containers = append(p.Containers, same(pod.Spec.Containers[i].Name))
	}
	p.times(pod)
	p.end(pod)
	if trouble, found := jobstatus.TroubleOf(pod, nil); found {
		p.Trouble, p.Message = same(trouble.Code), same(jobstatus.OneLine(trouble.Message))
	}
	p.Asks = asked(pod)
	one := state.Summarize([]*corev1.Pod{pod})
	p.how, p.stuck = one.End, one.CannotStart
	return p
}

func (p *Pod) times(pod *corev1.Pod) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionTrue {
			p.Bound = condition.LastTransitionTime.Time
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if running := status.State.Running; running != nil && (p.Started.IsZero() || running.StartedAt.Time.Before(p.Started)) {
			p.Started = running.StartedAt.Time
		}
		ended := status.State.Terminated
		if ended == nil {
			continue
		}
		if p.Started.IsZero() || ended.StartedAt.Time.Before(p.Started) {
			p.Started = ended.StartedAt.Time
		}
		if ended.FinishedAt.After(p.Ended) {
			p.Ended = ended.FinishedAt.Time
		}
	}
}

// end records how a finished pod ended.
func (p *Pod) end(pod *corev1.Pod) {
	p.Exited = pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if !p.Exited {
		p.Ended = time.Time{}
		return
	}
	for _, status := range pod.Status.ContainerStatuses {
		if ended := status.State.Terminated; ended != nil && ended.ExitCode != 0 && p.ExitCode == 0 {
			p.ExitCode = ended.ExitCode
			p.Message = jobstatus.OneLine(ended.Message)
		}
	}
	if pod.Status.Message != "" {
		p.Message = jobstatus.OneLine(pod.Status.Message)
	}
}

func asked(pod *corev1.Pod) *Amounts {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	a := nodecapacity.Asked(pod)
	if len(a.Devices) == 0 {
		a.Devices = nil
	}
	return &a
}
