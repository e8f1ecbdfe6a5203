package tuitest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/dashboard/demo"
	"github.com/vc-batch/vc/internal/slurm/submission"
)

// VariousJobsWorld returns FewNodesWorld with one job of each rare kind: an array, a held job, a suspended job, a job
// with failed pods, a job that cannot pull its image, and a job with a complete explanation.
func VariousJobsWorld() []runtime.Object {
	objects := FewNodesWorld()
	pending, running := batchv1alpha1.Pending, batchv1alpha1.Running
	for _, plan := range []demo.JobPlan{
		{ID: 12, Namespace: "nlp", Name: "hp-sweep", Queue: "default", User: "omar", Phase: running, Tasks: 8, CPU: "1", Memory: "1Gi", Age: hour, Ran: 40 * minute,
			Nodes: []string{"192.168.63.50", "192.168.63.50"}, Change: turnIntoArray},
		{ID: 13, Namespace: "nlp", Name: "held", Queue: "default", User: "mei", Phase: pending, Tasks: 1, CPU: "1", Memory: "1Gi", Age: minute, Change: func(job *batchv1alpha1.Job) {
			job.Annotations[keys.Hold] = keys.HoldUser
			job.Status.State.Reason, job.Status.State.Message = string(reason.JobHeldUser), "the job is held by its user"
		}},
		{ID: 14, Namespace: "nlp", Name: "paused", Queue: "default", User: "mei", Phase: batchv1alpha1.Aborted, Tasks: 1, CPU: "1", Memory: "1Gi", Age: 3 * hour, Change: func(job *batchv1alpha1.Job) {
			submission.StoreOptions(job, submission.Options{StdOut: "/home/mei/%x-%j.out"})
		}},
		{ID: 15, Namespace: "nlp", Name: "crashes", Queue: "default", User: "mei", Phase: running, Tasks: 4, CPU: "1", Memory: "1Gi", Age: 5 * minute, Ran: 4 * minute,
			Nodes: []string{"192.168.23.24", "192.168.51.67", "192.168.57.163", "192.168.63.50"}, Change: func(job *batchv1alpha1.Job) { job.Status.Running, job.Status.Failed = 2, 1 }},
		{ID: 16, Namespace: "nlp", Name: "llama-eval", Queue: "default", User: "mei", Class: "", Phase: pending, Tasks: 2, GPUs: 8, CPU: "4", Memory: "8Gi", Age: 18 * minute,
			Limit: 2 * hour, Explanation: fullExplanation()},
	} {
		objects = append(objects, plan.NewObjects()...)
	}
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			makePodsFail(pod)
		}
	}
	return demo.FillInStatus(objects)
}

// turnIntoArray makes a job an array of eight elements, half of which have ended.
func turnIntoArray(job *batchv1alpha1.Job) {
	job.Annotations[keys.Array], job.Annotations[keys.ArrayLimit] = "0-7", "2"
	job.Spec.MinAvailable = 1
	job.Status.Array = &batchv1alpha1.ArrayStatus{Running: "4-5", Succeeded: "0-2", Failed: "3", ExitCodes: map[string]string{"2": "3"}, Reason: string(reason.JobArrayTaskLimit)}
	job.Status.Running, job.Status.Pending, job.Status.Succeeded, job.Status.Failed = 2, 2, 3, 1
}

// makePodsFail makes one pod of crashes fail and another wait for its image.
func makePodsFail(pod *corev1.Pod) {
	switch pod.Name {
	case "crashes-worker-2":
		pod.Status.Phase = corev1.PodFailed
		ended := demo.TimeBeforeNow(3 * minute)
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 3, Reason: "Error", Message: "no checkpoint in /data", StartedAt: demo.TimeBeforeNow(4 * minute), FinishedAt: ended,
		}}
	case "crashes-worker-3":
		pod.Status.Phase = corev1.PodPending
		pod.Status.ContainerStatuses[0].Ready = false
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image hpc/crashes:2026.1"}}
	}
}

// fullExplanation returns an explanation with all fields set.
func fullExplanation() *schedulingv1beta1.Explanation {
	start, since := demo.TimeBeforeNow(-24*minute), demo.TimeBeforeNow(18*minute)
	return &schedulingv1beta1.Explanation{
		Reason: string(reason.GangDoesNotFit), Message: "not all pods of the gang fit at the same time: 1 of 2 fit; 1/4 nodes can run one more pod: 2 InsufficientResource nvidia.com/gpu (short by 8), 1 UntoleratedTaint team=prod:NoSchedule",
		Hint: "lower minAvailable or the requests, or add nodes", Since: &since, Attempts: 12, LastAttempt: &since,
		Members:   &schedulingv1beta1.ExplainedMembers{Min: 2, Exist: 2, Fit: 1},
		NodeCount: 4,
		Nodes: []schedulingv1beta1.ExplainedNodes{
			{Reason: string(reason.InsufficientResource), Detail: demo.GPU, Count: 2, ShortBy: "8"},
			{Reason: string(reason.UntoleratedTaint), Detail: "team=prod:NoSchedule", Count: 1},
		},
		Short:          []schedulingv1beta1.Shortage{{Resource: demo.GPU, Scope: "nodes", Asked: "8", Available: "0", ShortBy: "8"}},
		Spared:         []schedulingv1beta1.ExplainedSpared{{Reason: string(reason.NotLower), Pods: 3}},
		Queue:          &schedulingv1beta1.ExplainedQueue{Name: "default", Position: 1, Waiting: 2},
		Helps:          []schedulingv1beta1.Help{{Kind: schedulingv1beta1.HelpFewerMembers, From: "2", To: "1", Text: "with minAvailable 1 instead of 2, the job would start now"}},
		EstimatedStart: &start, Estimate: "when pods of default/train have ended",
	}
}
