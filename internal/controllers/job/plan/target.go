package plan

import (
	"fmt"
	"slices"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// targetKey is the key in status.controlledResources that lists the targets of a partial restart while it is in
// progress: task/<task>, partition/<task>/<number> or pod/<task>/<index>, separated by commas.
const targetKey = "restart-target"

// maxTargets is the maximum number of stored targets. Further failed pods are found again by the next plan.
const maxTargets = 200

// restartTargets returns the targets of a targeted restart that responds to an event. The list is empty if the event
// does not name any.
func restartTargets(job *batchv1alpha1.Job, a busv1alpha1.Action, e *event) []string {
	if e.task < 0 {
		return nil
	}
	task := &job.Spec.Tasks[e.task]
	var targets []string
	switch a {
	case busv1alpha1.RestartTaskAction:
		return []string{"task/" + task.Name}
	case busv1alpha1.RestartPartitionAction:
		if task.PartitionPolicy == nil {
			return nil
		}
		for _, p := range e.where {
			targets = append(targets, fmt.Sprintf("partition/%s/%d", task.Name, partitionOfIndex(task, p.Index)))
		}
	case busv1alpha1.RestartPodAction:
		for _, p := range e.where {
			targets = append(targets, fmt.Sprintf("pod/%s/%d", task.Name, p.Index))
		}
	}
	return mergeTargets(nil, targets)
}

func mergeTargets(a, b []string) []string {
	merged := slices.Concat(a, b)
	slices.Sort(merged)
	merged = slices.Compact(merged)
	return merged[:min(len(merged), maxTargets)]
}

func storedTargets(status *batchv1alpha1.JobStatus) []string {
	if s := status.ControlledResources[targetKey]; s != "" {
		return strings.Split(s, ",")
	}
	return nil
}

func storeTargets(status *batchv1alpha1.JobStatus, targets []string) {
	if status.ControlledResources == nil {
		status.ControlledResources = map[string]string{}
	}
	status.ControlledResources[targetKey] = strings.Join(targets, ",")
}

// markTargets marks the pods that belong to the targets, including finished ones, so that they are stopped. Pods that
// are already being deleted are only annotated, so that no policy responds to their end again.
func (b *builder) markTargets(targets []string) {
	wanted := make(map[string]bool, len(targets))
	for _, t := range targets {
		wanted[t] = true
	}
	for _, m := range b.census.members {
		if m.place.Task < 0 {
			continue
		}
		if isTarget(wanted, &b.job.Spec.Tasks[m.place.Task], m.place.Index) {
			m.stop = !m.gone && !b.keepsSucceededPod(m)
			m.stopMark = !b.keepsSucceededPod(m)
		}
	}
}

// isTarget reports whether a pod of a task, its partition or the whole task is among the wanted targets.
func isTarget(wanted map[string]bool, task *batchv1alpha1.TaskSpec, index int32) bool {
	if wanted["task/"+task.Name] || wanted[fmt.Sprintf("pod/%s/%d", task.Name, index)] {
		return true
	}
	if task.PartitionPolicy == nil {
		return false
	}
	return wanted[fmt.Sprintf("partition/%s/%d", task.Name, partitionOfIndex(task, index))]
}
