package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// newJobRow creates the row of a job.
func (b *Board) newJobRow(e *jobEntry, now time.Time) *Job {
	job, s := e.object, &e.object.Status
	j := &Job{
		UID: job.UID, Namespace: job.Namespace, Name: job.Name, Title: batchv1alpha1.Title(job), Queue: cmp.Or(job.Spec.Queue, keys.DefaultQueue),
		User: batchv1alpha1.UserOf(job), Phase: jobstatus.PhaseOrPending(job), PriorityClass: job.Spec.PriorityClassName,
		Replicas: jobstatus.CountReplicas(job), Min: jobstatus.MinimumPods(job), Bound: jobstatus.CountBoundPods(job, e.group), GPUs: jobstatus.RequestedGPUs(job),
		Running: s.Running, Waiting: s.Pending, Failed: s.Failed, Succeeded: s.Succeeded, Submitted: job.CreationTimestamp.Time, Limit: state.TimeLimit(job),
		Object: job, Group: e.group, Pods: sortPodsOfJob(job, e.pods),
	}
	j.MilliCPU, j.MemoryBytes = jobstatus.RequestedCPUAndMemory(job)
	if id, ok := batchv1alpha1.JobID(job); ok {
		j.ID = batchv1alpha1.FormatJobID(id)
	}
	priority, known := b.priority[j.PriorityClass]
	j.Priority, j.PriorityUnknown = priority, j.PriorityClass != "" && !known
	sum := b.summarizePods(j.Pods)
	facts := state.Facts{Job: job, Group: e.group, Queue: b.queues[j.Queue], Pods: sum, Now: now}
	stands, times := state.Of(facts), state.TimesOf(facts)
	j.State, j.Reason, j.Started, j.Ended = string(stands.Code), stands.Reason, times.Start, times.End
	if j.Ended.IsZero() {
		j.Ended = times.Released // a suspended job does not run
	}
	if j.Reason == state.None {
		j.Reason = ""
	}
	if stands.Code == state.Completed && hasFailedElements(job) {
		j.State = string(state.Failed)
	}
	j.PodsOnNodes = sum.Bound
	j.NodeCount, j.NodeList = len(sum.Nodes), hostlist.CompressNames(sum.Nodes)
	b.copyExplanation(j)
	return j
}

// hasFailedElements reports whether the job is an array of which elements have failed.
func hasFailedElements(job *batchv1alpha1.Job) bool {
	return job.Status.Array != nil && job.Status.Array.Failed != ""
}

// PriorityText returns the job's priority, or "?" if it is unknown.
func (j *Job) PriorityText() string {
	if j.PriorityUnknown {
		return "?"
	}
	return strconv.Itoa(int(j.Priority))
}

// StateFacts returns the input from which package state computes Slurm's state and reason for the job, also for single
// array tasks.
func (j *Job) StateFacts(now time.Time) state.Facts {
	return state.Facts{Job: j.Object, Group: j.Group, Now: now}
}

// RunningTime returns how long the job has run, or ran; 0 if it has not started. `vcctl job list` shows the same value.
func (j *Job) RunningTime(now time.Time) time.Duration { return jobstatus.RunningTime(j.Object, now) }

// ReasonNotRunning returns the reason why not all of the job runs, in the words of `vcctl job list`.
func (j *Job) ReasonNotRunning() jobstatus.Why {
	if j.groupUnknown && jobstatus.IsActivePhase(j.Phase) {
		return jobstatus.Why{Code: j.Object.Status.State.Reason, Message: jobstatus.StateMessage(j.Object)}
	}
	w := jobstatus.ExplainJob(j.Object, j.Group)
	if !jobstatus.IsActivePhase(j.Phase) {
		return w
	}
	for _, pod := range j.Pods {
		if pod.Trouble != "" {
			named := &corev1.Pod{}
			named.Name = pod.Name
			w, _ = w.ReplaceByTrouble([]jobstatus.Trouble{{Pod: named, Code: pod.Trouble, Message: pod.Message}}, j.Name)
			break
		}
	}
	return w
}

// GroupUnknown reports whether it is unknown if the job has a PodGroup: the user may not see it, or the list is
// incomplete.
func (j *Job) GroupUnknown() bool { return j.groupUnknown }

// copyExplanation copies the scheduler's explanation and estimates for a waiting job into its row.
func (b *Board) copyExplanation(j *Job) {
	j.groupUnknown = b.unknown[PodGroups]
	w := j.ReasonNotRunning()
	j.Code, j.Says = w.Code, w.Message
	if j.Group == nil || j.Group.Status.Explanation == nil {
		return
	}
	e := j.Group.Status.Explanation
	if e.EstimatedStart != nil {
		j.EstimatedStart = e.EstimatedStart.Time
	}
	if e.Queue != nil {
		j.Position = e.Queue.Position
	}
}

// sortPodsOfJob returns pods ordered by task, index and name.
func sortPodsOfJob(job *batchv1alpha1.Job, pods map[podUID]*Pod) []*Pod {
	order := map[string]int{}
	for i := range job.Spec.Tasks {
		order[job.Spec.Tasks[i].Name] = i
	}
	return slices.SortedFunc(maps.Values(pods), func(a, b *Pod) int {
		return cmp.Or(cmp.Compare(order[a.Task], order[b.Task]), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}

// summarizePods returns the summary of pods from which package state computes Slurm's states.
func (b *Board) summarizePods(pods []*Pod) *state.Pods {
	sum := &state.Pods{}
	for _, p := range pods {
		if p.Node != "" {
			sum.Nodes = append(sum.Nodes, p.Node)
		}
		if started := p.Started.Time(); !started.IsZero() && (sum.Begin.IsZero() || started.Before(sum.Begin)) {
			sum.Begin = started
		}
		if p.Exited {
			sum.Ended++
			if ended := p.Ended.Time(); ended.After(sum.Finish) {
				sum.Finish = ended
			}
			sum.End = cmp.Or(sum.End, p.how)
			continue
		}
		sum.Live++
		if p.Node != "" {
			sum.Bound++
		}
		if p.Phase == corev1.PodRunning {
			sum.Started++
		}
		sum.CannotStart = sum.CannotStart || p.stuck
	}
	slices.SortFunc(sum.Nodes, hostlist.CompareNames)
	sum.Nodes = slices.Compact(sum.Nodes)
	return sum
}

// SlimJob removes the fields that are not shown from a job, so that thousands of jobs fit into memory. It changes the
// job.
func SlimJob(job *batchv1alpha1.Job) {
	job.ManagedFields = nil
	delete(job.Annotations, corev1.LastAppliedConfigAnnotation)
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		whole := &task.Template.Spec
		slim := corev1.PodSpec{
			ActiveDeadlineSeconds: whole.ActiveDeadlineSeconds, NodeSelector: whole.NodeSelector, Tolerations: whole.Tolerations,
			RestartPolicy: whole.RestartPolicy,
			Containers:    make([]corev1.Container, len(whole.Containers)),
		}
		for c := range slim.Containers {
			from := &whole.Containers[c]
			slim.Containers[c] = corev1.Container{Name: from.Name, Image: from.Image, Resources: from.Resources}
		}
		task.Template = corev1.PodTemplateSpec{Spec: slim}
	}
}

// SlimGroup removes the fields that are not shown from a PodGroup. It changes the group.
func SlimGroup(group *schedulingv1beta1.PodGroup) {
	group.ManagedFields, group.Annotations, group.Labels = nil, nil, nil
}
