package snapshot

import (
	"strconv"
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

// shareText returns a shared copy of text that many pods have in common.
func shareText(text string) string { return unique.Make(text).Value() }

// FromPod reduces a pod to the fields that are shown.
func FromPod(pod *corev1.Pod) *Pod {
	p := &Pod{
		UID: pod.UID, Namespace: shareText(pod.Namespace), Name: pod.Name, Node: shareText(pod.Spec.NodeName), JobID: shareText(pod.Labels[keys.JobID]), Task: shareText(jobstatus.TaskNameOf(pod)),
		Phase: corev1.PodPhase(shareText(string(pod.Status.Phase))), State: shareText(jobstatus.PodStatus(pod)), Ready: shareText(jobstatus.PodReady(pod)), Restarts: jobstatus.CountRestarts(pod),
		Terminating: pod.DeletionTimestamp != nil, Created: MomentOf(pod.CreationTimestamp.Time),
		Stays: jobstatus.StaysDuringDrain(pod), Alone: metav1.GetControllerOfNoCopy(pod) == nil, KeepsData: jobstatus.KeepsLocalData(pod),
	}
	for i := range pod.OwnerReferences {
		if o := &pod.OwnerReferences[i]; o.Kind == "Job" && o.APIVersion == batchv1alpha1.GroupVersion.String() {
			p.Job, p.JobUID = shareText(o.Name), types.UID(shareText(string(o.UID)))
		}
	}
	if index, err := strconv.ParseInt(pod.Labels[keys.TaskIndex], 10, 32); err == nil {
		p.Index = int32(index)
	}
	for i := range pod.Spec.Containers {
		p.Containers = append(p.Containers, shareText(pod.Spec.Containers[i].Name))
	}
	p.setBindAndStart(pod)
	p.recordPodEnd(pod)
	if trouble, found := jobstatus.TroubleOfPod(pod, nil); found {
		p.Trouble, p.Message = shareText(trouble.Code), shareText(jobstatus.OneLine(trouble.Message))
	}
	p.Asks = requestedAmounts(pod)
	one := state.SummarizePods([]*corev1.Pod{pod})
	p.how, p.stuck = one.End, one.CannotStart
	return p
}

func (p *Pod) setBindAndStart(pod *corev1.Pod) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionTrue {
			p.Bound = MomentOf(condition.LastTransitionTime.Time)
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if running := status.State.Running; running != nil {
			p.Started = firstMoment(p.Started, MomentOf(running.StartedAt.Time))
		}
		ended := status.State.Terminated
		if ended == nil {
			continue
		}
		p.Started = firstMoment(p.Started, MomentOf(ended.StartedAt.Time))
		p.Ended = max(p.Ended, MomentOf(ended.FinishedAt.Time))
	}
}

// firstMoment returns the earlier of two moments. If one of them is zero, it returns the other.
func firstMoment(a, b Moment) Moment {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// recordPodEnd records how a finished pod ended.
func (p *Pod) recordPodEnd(pod *corev1.Pod) {
	p.Exited = pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if !p.Exited {
		p.Ended = 0
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

func requestedAmounts(pod *corev1.Pod) *Amounts {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	a := nodecapacity.RequestedByPod(pod)
	if len(a.Devices) == 0 {
		a.Devices = nil
	}
	return &a
}
