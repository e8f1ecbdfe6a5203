package install

import (
	"maps"
	"strings"
)

// refusedChange is a valid object with a change that must be rejected.
type refusedChange struct {
	refused
	object string // YAML
	patch  string // a merge patch, in YAML
	vcctl  string // the equivalent command, if there is one
}

const onlyThese = "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and `PriorityClassName`"

// refusedChanges returns the rows of admission.md §3, and the rows of §5 to §10 about changes.
func refusedChanges() map[string]refusedChange {
	all := refusedChangesOfJobs()
	maps.Copy(all, refusedChangesOfQueues())
	maps.Copy(all, refusedChangesOfOthers())
	return all
}

func refusedChangesOfJobs() map[string]refusedChange {
	job := tasksYAML(work)
	array := strings.Replace(tasksYAML("{name: work, "+pod+"}"), "name: bad", "name: bad, annotations: {vc-batch.dev/array: 0-3}", 1)
	parted := tasksYAML("{name: work, replicas: 4, partitionPolicy: {totalPartitions: 2, partitionSize: 2}, " + pod + "}")
	tasks := func(task string) string { return "spec: {tasks: [" + task + "]}" }
	fixed := func(patch, where string) refusedChange {
		return refusedChange{object: job, patch: patch, refused: refused{section: "3", where: where, says: []string{onlyThese}}}
	}
	return map[string]refusedChange{
		"another image":      fixed(tasks(strings.Replace(work, "image: i", "image: j", 1)), "spec.tasks[0].template.spec.containers[0].image"),
		"another queue":      fixed("spec: {queue: busy}", "spec.queue"),
		"another scheduler":  fixed("spec: {schedulerName: other}", "spec.schedulerName"),
		"more retries":       fixed("spec: {maxRetry: 7}", "spec.maxRetry"),
		"a time to live":     fixed("spec: {ttlSecondsAfterFinished: 5}", "spec.ttlSecondsAfterFinished"),
		"a policy":           fixed("spec: {policies: [{event: PodFailed, action: RestartJob}]}", "spec.policies"),
		"a plugin":           fixed("spec: {plugins: {svc: []}}", "spec.plugins[svc]"),
		"another task name":  fixed(tasks(strings.Replace(work, "name: work", "name: play", 1)), "spec.tasks[0].name"),
		"a volume":           fixed("spec: {volumes: [{mountPath: /a, volumeClaimName: c}]}", "spec.volumes"),
		"a task more":        {object: job, patch: tasks(work + ", {name: more, replicas: 1, " + pod + "}"), refused: refused{section: "3", where: "spec.tasks", says: []string{"job updates may not add or remove tasks"}}},
		"a minimum too high": {object: job, patch: "spec: {minAvailable: 9}", refused: refused{section: "3", where: "spec.minAvailable", says: []string{"job 'minAvailable' should not be greater than total replicas in tasks; the total is 2"}}},
		"a minimum below nothing": {object: job, patch: "spec: {minAvailable: -9}",
			refused: refused{section: "3", where: "spec.minAvailable", says: []string{"must not be negative"}, kube: []string{"spec.minAvailable", "greater than or equal to 0"}}},
		"a task's minimum too high": {object: job, patch: tasks("{name: work, replicas: 2, minAvailable: 3, " + pod + "}"),
			refused: refused{section: "3", where: "spec.tasks[0].minAvailable", says: []string{"'minAvailable' is greater than 'replicas' in task: work, job: bad"}, kube: []string{"spec.tasks[0].minAvailable", "'minAvailable' is greater than 'replicas' in task: work"}}},
		"replicas below nothing": {object: job, patch: tasks(strings.Replace(work, "replicas: 2", "replicas: -2", 1)),
			refused: refused{section: "3", where: "spec.tasks[0].replicas", says: []string{"must not be negative"}, kube: []string{"spec.tasks[0].replicas", "greater than or equal to 0"}}},
		"half a partition more": {object: parted, patch: tasks("{name: work, replicas: 5, partitionPolicy: {totalPartitions: 2, partitionSize: 2}, " + pod + "}"),
			refused: refused{section: "3", where: "spec.tasks[0]", says: []string{"'Replicas' are not equal to TotalPartitions*PartitionSize in task: work, job: bad"}, kube: []string{"spec.tasks[0].partitionPolicy", "'Replicas' are not equal to TotalPartitions*PartitionSize in task: work"}}},
		"a hold that is none": {object: job, patch: "metadata: {annotations: {vc-batch.dev/hold: perhaps}}",
			refused: refused{section: "3", where: "metadata.annotations[vc-batch.dev/hold]", says: []string{"perhaps", "user", "admin"}}},
		"other elements": {object: array, patch: "metadata: {annotations: {vc-batch.dev/array: 0-5}}",
			refused: refused{section: "3", where: "metadata.annotations[vc-batch.dev/array]", says: []string{"the indices of an array cannot be changed"}}},
		"elements that are not there are cancelled": {object: array, patch: "metadata: {annotations: {vc-batch.dev/array-cancelled: '7'}}",
			refused: refused{section: "3", where: "metadata.annotations[vc-batch.dev/array-cancelled]", says: []string{"the array has no tasks with these indices"}}},
	}
}

func refusedChangesOfQueues() map[string]refusedChange {
	row := func(name, patch, vcctl, where string, says ...string) refusedChange {
		return refusedChange{object: queueYAML(name, ""), patch: patch, vcctl: vcctl, refused: refused{section: "5", where: where, says: says}}
	}
	kube := func(r refusedChange, says ...string) refusedChange { r.kube = says; return r }
	chosen := func(r refusedChange) refusedChange { r.chosen = true; return r }
	return map[string]refusedChange{
		"the amounts of root": chosen(row("root", "spec: {capability: {cpu: 4}}", "queue update root --capability cpu=4", "spec", "root queue's resource attributes (capability, deserved, guarantee) cannot be modified")),
		"a circle":            row("org", "spec: {parent: team}", "queue update org --parent team", "spec.parent", "queues would form a cycle: org -> team -> org"),
		"under itself":        row("org", "spec: {parent: org}", "queue update org --parent org", "spec.parent", "queue org cannot use itself as parent"),
		"under nobody":        row("org", "spec: {parent: nowhere}", "queue update org --parent nowhere", "spec.parent", `parent queue "nowhere" does not exist`),
		"under pods":          row("org", "spec: {parent: busy}", "queue update org --parent busy", "spec.parent", "queue busy cannot be the parent queue of queue org because it has allocated Pods: 3"),
		"too deep":            chosen(row("busy", "spec: {parent: deep5}", "queue update busy --parent deep5", "spec.parent", "6 levels deep; the maximum is 5")),
		"less deserved than the children": row("org", "spec: {deserved: {cpu: 3}}", "queue update org --deserved cpu=3", "spec.deserved[cpu]",
			"the child queues of this queue have 4 in total for deserved, but the value for queue org is 3"),
		"more deserved than the parent": row("team", "spec: {deserved: {cpu: 9}}", "queue update team --deserved cpu=9", "spec.deserved[cpu]",
			"the child queues of queue org would have 9 in total for deserved, but the value for queue org is 8"),
		"more capability than the parent": row("team", "spec: {capability: {cpu: 17}}", "queue update team --capability cpu=17", "spec.capability[cpu]",
			"capability[cpu] must be <= the capability of its ancestor org, which is 16"),
		"less capability than deserved": kube(row("org", "spec: {capability: {cpu: 4}}", "queue update org --capability cpu=4", "spec.deserved", "deserved[cpu] must be <= capability[cpu]=4"),
			"spec.deserved", "deserved[r] must be <= capability[r]"),
		"more guarantee than deserved": kube(row("org", "spec: {guarantee: {resource: {cpu: 9}}}", "queue update org --guarantee cpu=9", "spec.deserved", "deserved[cpu] must be >= guarantee[cpu]=9"),
			"spec.deserved", "deserved[r] must be >= guarantee[r]"),
		"half a device": row("org", "spec: {capability: {nvidia.com/gpu: 500m}}", "queue update org --capability cpu=16,nvidia.com/gpu=500m", "spec.capability[nvidia.com/gpu]", "must be an integer"),
		"a place without a weight": row("sci", "metadata: {annotations: {volcano.sh/hierarchy-weights: 1/2/none}}", "", "metadata.annotations[volcano.sh/hierarchy-weights]",
			`"none" is not a valid weight: use a number greater than 0`),
		"a state that is none": row("org", "metadata: {annotations: {vc-batch.dev/queue-state: Ajar}}", "", "metadata.annotations[vc-batch.dev/queue-state]", "Ajar", "Open", "Closed"),
		"root closed":          row("root", "metadata: {annotations: {vc-batch.dev/queue-state: Closed}}", "", "metadata.annotations[vc-batch.dev/queue-state]", "queue root cannot be closed"),
	}
}

func refusedChangesOfOthers() map[string]refusedChange {
	cron := cronYAML("0 1 * * *", ", jobTemplate: {spec: {tasks: ["+work+"]}}")
	return map[string]refusedChange{
		"a group of fewer than none": {object: groupYAML("minMember: 1"), patch: "spec: {minMember: -1}", refused: refused{section: "6", where: "spec.minMember", says: []string{"greater than or equal to 0"}, kubeOnly: true}},
		"a group of two tiers": {object: groupYAML("networkTopology: {highestTierAllowed: 1}"), patch: "spec: {networkTopology: {highestTierName: rack}}",
			refused: refused{section: "6", where: "spec.networkTopology", says: []string{"must not specify 'highestTierAllowed' and 'highestTierName'"}, kubeOnly: true}},
		"a step after nobody": {object: flowYAML("{name: a}"), patch: "spec: {flows: [{name: a}, {name: b, dependsOn: {targets: [c]}}]}",
			refused: refused{section: "8", where: "spec.flows[1].dependsOn.targets[0]", says: []string{"jobflow Flow is not DAG: vertex is not defined: c"}}},
		"steps in a circle": {object: flowYAML("{name: a}, {name: b, dependsOn: {targets: [a]}}"), patch: "spec: {flows: [{name: a, dependsOn: {targets: [b]}}, {name: b, dependsOn: {targets: [a]}}]}",
			refused: refused{section: "8", where: "spec.flows", says: []string{"jobflow Flow is not DAG", "a -> b -> a"}}},
		"a template of an internal event": {object: templateYAML("tasks: [" + work + "]"), patch: "spec: {policies: [{event: OutOfSync, action: RestartJob}]}",
			refused: refused{section: "8", where: "spec.policies[0].event", says: []string{"invalid policy event"}}},
		"a schedule that never comes": {object: cron, patch: "spec: {schedule: 0 0 30 2 *}", refused: refused{section: "9", where: "spec.schedule", says: []string{"the schedule never starts a job, because the specified date does not exist"}}},
		"a schedule with a zone":      {object: cron, patch: "spec: {schedule: TZ=UTC 0 1 * * *}", refused: refused{section: "9", where: "spec.schedule", says: []string{"schedule should not contain TZ or CRON_TZ"}}},
		"a zone that is unknown":      {object: cron, patch: "spec: {timeZone: Nowhere/Atall}", refused: refused{section: "9", where: "spec.timeZone", says: []string{"invalid timeZone"}}},
		"a cron job of root":          {object: cron, patch: "spec: {jobTemplate: {spec: {queue: root}}}", refused: refused{section: "9", where: "spec.jobTemplate.spec.queue", says: []string{"can not submit job to root queue"}}},
		"a pattern that is none": {object: hyperNodeYAML("tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: a}}}]"), patch: "spec: {members: [{type: Node, selector: {regexMatch: {pattern: 'a('}}}]}",
			refused: refused{section: "10", where: "spec.members[0].selector.regexMatch.pattern", says: []string{"regular expression"}}},
	}
}
