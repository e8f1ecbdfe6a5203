package snapshot

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// jobRow is a job with its PodGroup, which may be nil, and its pods.
func jobRow(job *batchv1alpha1.Job, group *schedulingv1beta1.PodGroup, pods []*Pod) *Job {
	s := &job.Status
	j := &Job{
		UID: job.UID, Namespace: job.Namespace, Name: job.Name, Title: batchv1alpha1.Title(job), Queue: cmp.Or(job.Spec.Queue, keys.DefaultQueue),
		User: batchv1alpha1.UserOf(job), Phase: cmp.Or(s.State.Phase, batchv1alpha1.Pending), PriorityClass: job.Spec.PriorityClassName,
		Min: job.Spec.MinAvailable, Running: s.Running, Waiting: s.Pending, Failed: s.Failed, Succeeded: s.Succeeded,
		Submitted: job.CreationTimestamp.Time, Object: job, Group: group, Pods: pods,
	}
	if id, ok := batchv1alpha1.JobID(job); ok {
		j.ID = batchv1alpha1.FormatJobID(id)
	}
	order := map[string]int{}
	for i := range job.Spec.Tasks {
		j.Replicas += job.Spec.Tasks[i].Replicas
		order[job.Spec.Tasks[i].Name] = i
	}
	slices.SortFunc(j.Pods, func(a, b *Pod) int {
		return cmp.Or(cmp.Compare(order[a.Task], order[b.Task]), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	j.times(s)
	j.Limit = limitOf(job)
	j.places()
	j.state()
	j.waits()
	return j
}

// times are when the job started and ended, by its conditions.
func (j *Job) times(s *batchv1alpha1.JobStatus) {
	for _, condition := range s.Conditions {
		if condition.LastTransitionTime == nil {
			continue
		}
		if condition.Status == batchv1alpha1.Running {
			j.Started = condition.LastTransitionTime.Time
		}
	}
	if j.Started.IsZero() && j.Phase == batchv1alpha1.Running {
		j.Started = s.State.LastTransitionTime.Time
	}
	switch j.Phase {
	case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated, batchv1alpha1.Aborted:
		j.Ended = s.State.LastTransitionTime.Time
	}
}

// limitOf is the longest that a pod of the job may run.
func limitOf(job *batchv1alpha1.Job) time.Duration {
	var longest time.Duration
	for i := range job.Spec.Tasks {
		seconds := job.Spec.Tasks[i].Template.Spec.ActiveDeadlineSeconds
		if seconds == nil {
			return 0
		}
		longest = max(longest, time.Duration(*seconds)*time.Second)
	}
	return longest
}

// places are the nodes that the job's pods are on.
func (j *Job) places() {
	var names []string
	for _, pod := range j.Pods {
		if pod.Node != "" && !pod.Exited {
			names = append(names, pod.Node)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	j.NodeCount, j.NodeList = len(names), strings.Join(names, ",")
}

func (j *Job) state() {
	codes := map[batchv1alpha1.JobPhase]string{
		batchv1alpha1.Pending: "PD", batchv1alpha1.Running: "R", batchv1alpha1.Restarting: "RQ", batchv1alpha1.Completing: "CG", batchv1alpha1.Terminating: "CG",
		batchv1alpha1.Aborting: "CG", batchv1alpha1.Completed: "CD", batchv1alpha1.Aborted: "S", batchv1alpha1.Terminated: "CA", batchv1alpha1.Failed: "F",
	}
	j.State = cmp.Or(codes[j.Phase], "PD")
}

// waits is what the scheduler says of why and how long.
func (j *Job) waits() {
	j.Code, j.Says = j.Object.Status.State.Reason, j.Object.Status.State.Message
	if j.Group == nil || j.Group.Status.Explanation == nil {
		return
	}
	e := j.Group.Status.Explanation
	j.Code, j.Says = e.Reason, e.Message
	if e.EstimatedStart != nil {
		j.EstimatedStart = e.EstimatedStart.Time
	}
	if e.Queue != nil {
		j.Position = e.Queue.Position
	}
}

// SlimJob takes out of a job what is not shown, so that thousands fit into memory. It changes the job.
func SlimJob(job *batchv1alpha1.Job) {
	job.ManagedFields = nil
	delete(job.Annotations, corev1.LastAppliedConfigAnnotation)
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		whole := &task.Template.Spec
		slim := corev1.PodSpec{
			ActiveDeadlineSeconds: whole.ActiveDeadlineSeconds, NodeSelector: whole.NodeSelector, RestartPolicy: whole.RestartPolicy,
			Containers: make([]corev1.Container, len(whole.Containers)),
		}
		for c := range slim.Containers {
			from := &whole.Containers[c]
			slim.Containers[c] = corev1.Container{Name: from.Name, Image: from.Image, Resources: from.Resources}
		}
		task.Template = corev1.PodTemplateSpec{Spec: slim}
	}
}

// SlimGroup takes out of a PodGroup what is not shown. It changes the group.
func SlimGroup(group *schedulingv1beta1.PodGroup) {
	group.ManagedFields, group.Annotations, group.Labels = nil, nil, nil
}
