package plan

import (
	"fmt"
	"slices"
	"strings"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// targetKey is the key of status.controlledResources under which a restart of a part of the job says which part, while it lasts:
// task/<task>, partition/<task>/<number> or pod/<task>/<index>, separated by commas.
const targetKey = "restart-target"

// maxTargets bounds what is written down. Failed pods beyond it are still seen to have failed in the next plan.
const maxTargets = 200

// targetsFor is the part of the job that an event's targeted restart is about; empty when the event names none.
func targetsFor(job *batch.Job, a bus.Action, e *event) []string {
	if e.task < 0 {
		return nil
	}
	task := &job.Spec.Tasks[e.task]
	var targets []string
	switch a {
	case bus.RestartTaskAction:
		return []string{"task/" + task.Name}
	case bus.RestartPartitionAction:
		if task.PartitionPolicy == nil {
			return nil
		}
		for _, p := range e.where {
			targets = append(targets, fmt.Sprintf("partition/%s/%d", task.Name, partition(task, p.Index)))
		}
	case bus.RestartPodAction:
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

func targetsOf(status *batch.JobStatus) []string {
	if s := status.ControlledResources[targetKey]; s != "" {
		return strings.Split(s, ",")
	}
	return nil
}

func setTargets(status *batch.JobStatus, targets []string) {
	if status.ControlledResources == nil {
		status.ControlledResources = map[string]string{}
	}
	status.ControlledResources[targetKey] = strings.Join(targets, ",")
}

// markTargets chooses the pods of the targets, finished ones too. Those that go away already are only marked, so that their going is not
// answered a second time.
func (b *builder) markTargets(targets []string) {
	wanted := make(map[string]bool, len(targets))
	for _, t := range targets {
		wanted[t] = true
	}
	for i := range b.census.members {
		m := &b.census.members[i]
		if m.place.Task < 0 {
			continue
		}
		task := &b.job.Spec.Tasks[m.place.Task]
		if wanted["task/"+task.Name] || wanted[fmt.Sprintf("pod/%s/%d", task.Name, m.place.Index)] ||
			task.PartitionPolicy != nil && wanted[fmt.Sprintf("partition/%s/%d", task.Name, partition(task, m.place.Index))] {
			m.stop = !m.gone && !b.keeps(m)
			m.stopMark = !b.keeps(m)
		}
	}
}
