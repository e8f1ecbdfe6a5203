package install

import "strings"

// refused is an object that must be rejected.
type refused struct {
	section  string   // of admission.md
	manifest string   // YAML
	where    string   // the field
	says     []string // Volcano's words, and ours
	kube     []string // the API server's message, if its schema or a CEL rule comes first and says less
	kubeOnly bool     // no webhook is called
	chosen   bool     // an installation may disable the rule, so vcctl does not apply it
}

const pod = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}"

// work is a task with two pods.
const work = "{name: work, replicas: 2, " + pod + "}"

func jobYAML(spec string) string {
	return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: bad, namespace: default}\nspec: {" + spec + "}\n"
}

func tasksYAML(tasks ...string) string { return jobYAML("tasks: [" + strings.Join(tasks, ", ") + "]") }

func policyYAML(policies string) string {
	return jobYAML("policies: [" + policies + "], tasks: [" + work + "]")
}

func queueYAML(name, spec string) string {
	return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n"
}

func groupYAML(spec string) string {
	return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: bad, namespace: default}\nspec: {" + spec + "}\n"
}

func hyperNodeYAML(spec string) string {
	return "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: bad}\nspec: {" + spec + "}\n"
}

func flowYAML(flows string) string {
	return "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: bad, namespace: default}\nspec: {flows: [" + flows + "]}\n"
}

func templateYAML(spec string) string {
	return "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobTemplate\nmetadata: {name: bad, namespace: default}\nspec: {" + spec + "}\n"
}

func cronYAML(schedule, more string) string {
	return "apiVersion: batch.volcano.sh/v1alpha1\nkind: CronJob\nmetadata: {name: bad, namespace: default}\nspec: {schedule: '" + schedule + "'" + more + "}\n"
}

func podYAML(annotations string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: bad, namespace: default, annotations: {" + annotations + "}}\n" +
		"spec: {schedulerName: volcano, restartPolicy: Never, containers: [{name: c, image: i}]}\n"
}

// refusedJobs returns the rows of admission.md §2.
func refusedJobs() map[string]refused {
	const numa = "{name: work, replicas: 1, topologyPolicy: restricted, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]}}}"
	long := strings.Repeat("x", 64)
	return map[string]refused{
		"no task":                  {section: "2", manifest: jobYAML("tasks: []"), where: "spec.tasks", says: []string{"No task specified in job spec"}},
		"a job name that is none":  {section: "2", manifest: strings.Replace(tasksYAML(work), "name: bad", "name: Not_A_Name", 1), where: "metadata.name", says: []string{"Not_A_Name"}, kubeOnly: true},
		"a job name that is long":  {section: "2", manifest: strings.Replace(tasksYAML(work), "name: bad", "name: "+long, 1), where: "metadata.name", says: []string{"create job with name " + long + " validate failed ["}},
		"mpi without its master":   {section: "2", manifest: jobYAML("plugins: {mpi: [--master=boss]}, tasks: [" + work + "]"), where: "spec.plugins[mpi]", says: []string{"The specified mpi master task was not found"}},
		"two kinds of tier":        {section: "2", manifest: jobYAML("networkTopology: {highestTierAllowed: 1, highestTierName: rack}, tasks: [" + work + "]"), where: "spec.networkTopology", says: []string{"must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"}},
		"a task's minimum":         {section: "2", manifest: tasksYAML("{name: work, replicas: 2, minAvailable: 3, " + pod + "}"), where: "spec.tasks[0].minAvailable", says: []string{"'minAvailable' is greater than 'replicas' in task: work, job: bad"}, kube: []string{"spec.tasks[0].minAvailable", "'minAvailable' is greater than 'replicas' in task: work"}},
		"a duplicate task":         {section: "2", manifest: tasksYAML(work, work), where: "spec.tasks[1].name", says: []string{"duplicated task name work"}, kube: []string{"spec.tasks", "duplicated task name work"}},
		"a task name that is none": {section: "2", manifest: tasksYAML("{name: Work_1, replicas: 1, " + pod + "}"), where: "spec.tasks[0].name", says: []string{"Work_1"}},
		"a pod name that is long":  {section: "2", manifest: tasksYAML("{name: " + long[:60] + ", replicas: 1, " + pod + "}"), where: "spec.tasks[0].name", says: []string{"the last pod would be named bad-xxx"}},
		"a template that Kubernetes refuses": {section: "2", manifest: tasksYAML("{name: work, replicas: 1, template: {spec: {containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /v}]}]}}}"),
			where: "spec.tasks[0].template.spec.containers[0].volumeMounts[0].name", says: []string{"Not found"}},
		"a template with a bad probe": {section: "2", manifest: tasksYAML("{name: work, replicas: 1, template: {spec: {containers: [{name: c, image: i, livenessProbe: {periodSeconds: -1, exec: {command: [a]}}}]}}}"),
			where: "spec.tasks[0].template.spec.containers[0].livenessProbe.periodSeconds", says: []string{"greater than or equal to 0"}},
		"half a cpu under NUMA":       {section: "2", manifest: tasksYAML(numa), where: "spec.tasks[0].template.spec.containers[0].resources.requests[cpu]", says: []string{"the cpu request is not a whole number"}},
		"a job's minimum":             {section: "2", manifest: jobYAML("minAvailable: 5, tasks: [" + work + "]"), where: "spec.minAvailable", says: []string{"job 'minAvailable' should not be greater than total replicas in tasks"}},
		"an unknown plugin":           {section: "2", manifest: jobYAML("plugins: {scp: []}, tasks: [" + work + "]"), where: "spec.plugins[scp]", says: []string{"unable to find job plugin: scp"}, kube: []string{"spec.plugins", "unable to find job plugin: scp"}},
		"a queue that is not there":   {section: "2", manifest: jobYAML("queue: nowhere, tasks: [" + work + "]"), where: "spec.queue", says: []string{"unable to find job queue: "}},
		"a closed queue":              {section: "2", manifest: jobYAML("queue: shut, tasks: [" + work + "]"), where: "spec.queue", says: []string{"can only submit job to queue with state `Open`, queue `shut` status is `Closed`"}},
		"the root queue":              {section: "2", manifest: jobYAML("queue: root, tasks: [" + work + "]"), where: "spec.queue", says: []string{"can not submit job to root queue"}},
		"a queue with children":       {section: "2", manifest: jobYAML("queue: org, tasks: [" + work + "]"), where: "spec.queue", says: []string{"can only submit job to leaf queue, queue `org` has 1 child queues"}},
		"a dependency on nobody":      {section: "2", manifest: tasksYAML("{name: work, replicas: 1, dependsOn: {name: [nobody]}, " + pod + "}"), where: "spec.tasks[0].dependsOn.name[0]", says: []string{"job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG)"}},
		"dependencies in a circle":    {section: "2", manifest: tasksYAML("{name: a, replicas: 1, dependsOn: {name: [b]}, "+pod+"}", "{name: b, replicas: 1, dependsOn: {name: [a]}, "+pod+"}"), where: "spec.tasks", says: []string{"doesn't form a directed acyclic graph(DAG)", "a -> b -> a"}},
		"a duration that is none":     {section: "2", manifest: policyYAML("{event: PodPending, action: RestartJob, timeout: 5 o'clock}"), where: "spec.policies[0].timeout", says: []string{"5 o'clock"}},
		"a quantity that is none":     {section: "2", manifest: tasksYAML("{name: work, replicas: 1, template: {spec: {containers: [{name: c, image: i, resources: {limits: {cpu: much}}}]}}}"), where: "spec.tasks[0].template.spec.containers[0].resources.limits", says: []string{"much"}},
		"replicas that are no number": {section: "2", manifest: tasksYAML("{name: work, replicas: many, " + pod + "}"), where: "spec.tasks[0].replicas", says: []string{"many"}, kube: []string{"spec.tasks[0].replicas", "must be of type integer"}, kubeOnly: true},
		"event and exit code":         {section: "2.1", manifest: policyYAML("{event: PodFailed, exitCode: 3, action: RestartJob}"), where: "spec.policies[0]", says: []string{"must not specify event and exitCode simultaneously"}},
		"neither event nor exit code": {section: "2.1", manifest: policyYAML("{action: RestartJob}"), where: "spec.policies[0]", says: []string{"either event and exitCode should be specified"}},
		"an internal event":           {section: "2.1", manifest: policyYAML("{event: OutOfSync, action: RestartJob}"), where: "spec.policies[0].event", says: []string{"invalid policy event", "*, PodFailed, PodEvicted, PodPending, Unknown, TaskCompleted, TaskFailed, JobUpdated"}},
		"an unknown action":           {section: "2.1", manifest: policyYAML("{event: PodFailed, action: Explode}"), where: "spec.policies[0].action", says: []string{"invalid policy action", "AbortJob, RestartJob, RestartTask, RestartPod, RestartPartition, TerminateJob, CompleteJob, ResumeJob"}},
		"an event twice":              {section: "2.1", manifest: policyYAML("{event: PodFailed, action: RestartJob}, {event: PodFailed, action: AbortJob}"), where: "spec.policies[1].event", says: []string{"duplicate event PodFailed  across different policy"}},
		"exit code 0":                 {section: "2.1", manifest: policyYAML("{exitCode: 0, action: RestartJob}"), where: "spec.policies[0].exitCode", says: []string{"0 is not a valid error code"}},
		"an exit code twice":          {section: "2.1", manifest: policyYAML("{exitCode: 3, action: RestartJob}, {exitCode: 3, action: AbortJob}"), where: "spec.policies[1].exitCode", says: []string{"duplicate exitCode 3"}},
		"any event and another":       {section: "2.1", manifest: policyYAML("{event: '*', action: RestartJob}, {event: PodFailed, action: AbortJob}"), where: "spec.policies", says: []string{"if there's * here, no other policy should be here"}},
		"partitions of nothing":       {section: "2.2", manifest: tasksYAML("{name: work, replicas: 2, partitionPolicy: {totalPartitions: 0, partitionSize: 2}, " + pod + "}"), where: "spec.tasks[0].partitionPolicy.totalPartitions", says: []string{"greater than"}},
		"partitions and replicas":     {section: "2.2", manifest: tasksYAML("{name: work, replicas: 2, partitionPolicy: {totalPartitions: 3, partitionSize: 2}, " + pod + "}"), where: "spec.tasks[0]", says: []string{"'Replicas' are not equal to TotalPartitions*PartitionSize in task: work, job: bad"}, kube: []string{"spec.tasks[0].partitionPolicy", "'Replicas' are not equal to TotalPartitions*PartitionSize in task: work"}},
		"partitions and minimum":      {section: "2.2", manifest: tasksYAML("{name: work, replicas: 4, minAvailable: 4, partitionPolicy: {totalPartitions: 2, partitionSize: 2, minPartitions: 1}, " + pod + "}"), where: "spec.tasks[0].minAvailable", says: []string{"'MinAvailable' is not equal to MinPartitions*PartitionSize in task: work, job: bad"}},
		"partitions of two tiers":     {section: "2.2", manifest: tasksYAML("{name: work, replicas: 2, partitionPolicy: {totalPartitions: 1, partitionSize: 2, networkTopology: {highestTierAllowed: 1, highestTierName: rack}}, " + pod + "}"), where: "spec.tasks[0].partitionPolicy.networkTopology", says: []string{"must not specify 'highestTierAllowed' and 'highestTierName'"}},
		"a volume without a place":    {section: "2.3", manifest: jobYAML("volumes: [{volumeClaimName: c}], tasks: [" + work + "]"), where: "spec.volumes[0].mountPath", says: []string{"equired"}},
		"two volumes in one place":    {section: "2.3", manifest: jobYAML("volumes: [{mountPath: /a, volumeClaimName: c}, {mountPath: /a, volumeClaimName: d}], tasks: [" + work + "]"), where: "spec.volumes", says: []string{"duplicated mountPath"}},
		"a volume of nothing":         {section: "2.3", manifest: jobYAML("volumes: [{mountPath: /a}], tasks: [" + work + "]"), where: "spec.volumes[0]", says: []string{"either VolumeClaim or VolumeClaimName must be specified"}},
		"a volume of two claims": {section: "2.3", manifest: jobYAML("volumes: [{mountPath: /a, volumeClaimName: c, volumeClaim: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}], tasks: [" + work + "]"), where: "spec.volumes",
			says: []string{"conflict: If you want to use an existing PVC, just specify VolumeClaimName.If you want to create a new PVC, you do not need to specify VolumeClaimName"}},
		"a dot in a name with ssh":       {section: "2.3", manifest: strings.Replace(jobYAML("plugins: {ssh: []}, tasks: ["+work+"]"), "name: bad", "name: v1.2", 1), where: "metadata.name", says: []string{"the volume of the ssh plugin would be named after the job, and volume names must not contain dots"}},
		"a dot in a name with volumes":   {section: "2.3", manifest: strings.Replace(jobYAML("volumes: [{mountPath: /a, volumeClaimName: c}], tasks: ["+work+"]"), "name: bad", "name: v1.2", 1), where: "metadata.name", says: []string{"its volumes would be named after the job"}},
		"51 characters with volumes":     {section: "2.3", manifest: strings.Replace(jobYAML("volumes: [{mountPath: /a, volumeClaimName: c}], tasks: ["+work+"]"), "name: bad", "name: "+long[:51], 1), where: "metadata.name", says: []string{"must be no more than 50 characters, because the names of the pods' volumes"}},
		"a volume where svc mounts":      {section: "2.3", manifest: jobYAML("plugins: {svc: []}, volumes: [{mountPath: /etc/volcano, volumeClaimName: c}], tasks: [" + work + "]"), where: "spec.volumes[0].mountPath", says: []string{"the svc plugin mounts the host list at this path"}},
		"a volume where a container has": {section: "2.3", manifest: jobYAML("volumes: [{mountPath: /a, volumeClaimName: c}], tasks: [{name: work, replicas: 1, template: {spec: {volumes: [{name: v, emptyDir: {}}], containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /a}]}]}}}]"), where: "spec.tasks[0].template.spec.containers[0].volumeMounts[0].mountPath", says: []string{"spec.volumes[0] is mounted at this path in every container"}},
		"a claim that is no name":        {section: "2.3", manifest: jobYAML("volumes: [{mountPath: /a, volumeClaimName: C_}], tasks: [" + work + "]"), where: "spec.volumes[0].volumeClaimName", says: []string{"C_"}},
	}
}

// annotated returns a job with one task and annotations, in YAML.
func annotated(annotations, task string) string {
	return strings.Replace(tasksYAML(task), "name: bad", "name: bad, annotations: {"+annotations+"}", 1)
}

// refusedAnnotations returns the rows about annotations that Volcano does not have, and the remaining rows of
// admission.md §2.
func refusedAnnotations() map[string]refused {
	at := func(key string) string { return "metadata.annotations[vc-batch.dev/" + key + "]" }
	elements := "{name: work, " + pod + "}"
	return map[string]refused{
		"a hold that is none":           {section: "2", manifest: annotated("vc-batch.dev/hold: perhaps", work), where: at("hold"), says: []string{"perhaps", "user", "admin"}},
		"a begin that is no time":       {section: "2", manifest: annotated("vc-batch.dev/begin: tomorrow", work), where: at("begin"), says: []string{"is not a valid time"}},
		"a dependency that is none":     {section: "2", manifest: annotated("vc-batch.dev/dependency: 'whenever:7'", work), where: at("dependency"), says: []string{"whenever"}},
		"a dependency on no job":        {section: "2", manifest: annotated("vc-batch.dev/dependency: 'afterok:999999'", work), where: at("dependency"), says: []string{"job 999999 does not exist"}},
		"a dependency on itself":        {section: "2", manifest: annotated("vc-batch.dev/dependency: 'afterok:bad'", work), where: at("dependency"), says: []string{"the job depends on itself and would never start"}},
		"killing that is neither":       {section: "2", manifest: annotated("vc-batch.dev/kill-on-invalid-dependency: 'yes'", work), where: at("kill-on-invalid-dependency"), says: []string{"true", "false"}},
		"an array that is none":         {section: "2", manifest: annotated("vc-batch.dev/array: some", elements), where: at("array"), says: []string{"some"}},
		"an array of two tasks":         {section: "2", manifest: annotated("vc-batch.dev/array: 0-1", "{name: a, "+pod+"}, {name: b, "+pod+"}"), where: "spec.tasks", says: []string{"must have exactly one entry in spec.tasks"}},
		"an array of other replicas":    {section: "2", manifest: annotated("vc-batch.dev/array: 0-4", work), where: "spec.tasks[0].replicas", says: []string{"the array has 5 tasks"}},
		"a limit that is none":          {section: "2", manifest: annotated("vc-batch.dev/array: 0-4, vc-batch.dev/array-limit: few", elements), where: at("array-limit"), says: []string{"few"}},
		"a limit of no array":           {section: "2", manifest: annotated("vc-batch.dev/array-limit: '2'", work), where: at("array-limit"), says: []string{"the job is not an array"}},
		"cancelled but not there":       {section: "2", manifest: annotated("vc-batch.dev/array: 0-4, vc-batch.dev/array-cancelled: '7'", elements), where: at("array-cancelled"), says: []string{"the array has no tasks with these indices"}},
		"work that is perhaps kept":     {section: "2", manifest: annotated("vc-batch.dev/keep-finished: perhaps", work), where: at("keep-finished"), says: []string{"true", "false"}},
		"a budget that is none":         {section: "2", manifest: annotated("volcano.sh/jdb-min-available: 100%", work), where: "metadata.annotations[volcano.sh/jdb-min-available]", says: []string{"1% to 99%"}},
		"half a cpu in an init one":     {section: "2", manifest: tasksYAML("{name: work, replicas: 1, topologyPolicy: restricted, template: {spec: {initContainers: [{name: b, image: i, resources: {limits: {cpu: 500m}}}], containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}"), where: "spec.tasks[0].template.spec.initContainers[0].resources.requests[cpu]", says: []string{"the cpu request is not a whole number"}},
		"a place with a colon":          {section: "2.3", manifest: jobYAML("volumes: [{mountPath: '/a:/b', volumeClaimName: c}], tasks: [" + work + "]"), where: "spec.volumes[0].mountPath", says: []string{"':'"}, kube: []string{"spec.volumes[0].mountPath", "should match '^[^:]*$'"}},
		"an array in a cron job is bad": {section: "9", manifest: cronYAML("0 1 * * *", ", jobTemplate: {metadata: {annotations: {vc-batch.dev/array: 0-4}}, spec: {tasks: ["+work+"]}}"), where: "spec.jobTemplate.spec.tasks[0].replicas", says: []string{"the array has 5 tasks"}},
	}
}

// refusedOthers returns the rows of admission.md §5 to §10.
func refusedOthers() map[string]refused {
	return map[string]refused{
		"an amount below nothing":         {section: "5", manifest: queueYAML("bad", "capability: {cpu: -1}"), where: "spec.capability[cpu]", says: []string{"must be greater than or equal to 0"}, kube: []string{"spec.capability", "must not be negative"}},
		"half a device":                   {section: "5", manifest: queueYAML("bad", "capability: {nvidia.com/gpu: 500m}"), where: "spec.capability[nvidia.com/gpu]", says: []string{"must be an integer"}},
		"a guarantee without deserved":    {section: "5", manifest: queueYAML("bad", "guarantee: {resource: {cpu: 2}}"), where: "spec.deserved", says: []string{"deserved[cpu] must be >= guarantee[cpu]=2"}, kube: []string{"spec.deserved", "deserved[r] must be >= guarantee[r]"}},
		"deserved over capability":        {section: "5", manifest: queueYAML("bad", "capability: {cpu: 2}, deserved: {cpu: 4}"), where: "spec.deserved", says: []string{"deserved[cpu] must be <= capability[cpu]=2"}, kube: []string{"spec.deserved", "deserved[r] must be <= capability[r]"}},
		"a hierarchy of unequal length":   {section: "5", manifest: strings.Replace(queueYAML("bad", ""), "name: bad", "name: bad, annotations: {volcano.sh/hierarchy: root/a/b, volcano.sh/hierarchy-weights: 1/2}", 1), where: "metadata.annotations[volcano.sh/hierarchy-weights]", says: []string{"must have the same length"}},
		"a hierarchy without weight":      {section: "5", manifest: strings.Replace(queueYAML("bad", ""), "name: bad", "name: bad, annotations: {volcano.sh/hierarchy: root/a, volcano.sh/hierarchy-weights: 1/0}", 1), where: "metadata.annotations[volcano.sh/hierarchy-weights]", says: []string{"a number greater than 0"}},
		"a hierarchy above another":       {section: "5", manifest: strings.Replace(queueYAML("bad", ""), "name: bad", "name: bad, annotations: {volcano.sh/hierarchy: root/sci, volcano.sh/hierarchy-weights: 1/2}", 1), where: "metadata.annotations[volcano.sh/hierarchy]", says: []string{"is not allowed to be in the sub path of"}},
		"itself as parent":                {section: "5", manifest: queueYAML("bad", "parent: bad"), where: "spec.parent", says: []string{"queue bad cannot use itself as parent"}},
		"a parent that is not there":      {section: "5", manifest: queueYAML("bad", "parent: nowhere"), where: "spec.parent", says: []string{"nowhere"}},
		"a tree that is too deep":         {section: "5", manifest: queueYAML("bad", "parent: deep5"), where: "spec.parent", says: []string{"6 levels deep"}, chosen: true},
		"a parent in which pods run":      {section: "5", manifest: queueYAML("bad", "parent: busy"), where: "spec.parent", says: []string{"queue busy cannot be the parent queue of queue bad because it has allocated Pods: 3"}},
		"more capability than above":      {section: "5", manifest: queueYAML("bad", "parent: org, capability: {cpu: 20}"), where: "spec.capability[cpu]", says: []string{"its ancestor org"}},
		"more deserved than the parent's": {section: "5", manifest: queueYAML("bad", "parent: org, deserved: {cpu: 6}"), where: "spec.deserved[cpu]", says: []string{"queue org is 8"}},
		"more guarantee than the parent":  {section: "5", manifest: queueYAML("bad", "parent: org, deserved: {cpu: 3}, guarantee: {resource: {cpu: 3}}"), where: "spec.guarantee.resource[cpu]", says: []string{"queue org is 2"}},
		"a weight of less than nothing":   {section: "5", manifest: queueYAML("bad", "weight: -1"), where: "spec.weight", says: []string{"-1"}},

		"a group in no queue":           {section: "6", manifest: groupYAML("queue: nowhere"), where: "spec.queue", says: []string{"unable to find queue: "}},
		"a group in a closed queue":     {section: "6", manifest: groupYAML("queue: shut"), where: "spec.queue", says: []string{"can only submit PodGroup to queue with state `Open`, queue `shut` status is `Closed`."}},
		"a group of two tiers":          {section: "6", manifest: groupYAML("networkTopology: {highestTierAllowed: 1, highestTierName: rack}"), where: "spec.networkTopology", says: []string{"must not specify 'highestTierAllowed' and 'highestTierName'"}},
		"a sub-group of two tiers":      {section: "6", manifest: groupYAML("subGroupPolicy: [{name: part, networkTopology: {highestTierAllowed: 1, highestTierName: rack}}]"), where: "spec.subGroupPolicy[0].networkTopology", says: []string{"must not specify 'highestTierAllowed' and 'highestTierName'"}},
		"a group with half a device":    {section: "6", manifest: groupYAML("minResources: {nvidia.com/gpu: 500m}"), where: "spec.minResources[nvidia.com/gpu]", says: []string{"must be an integer"}},
		"a budget of nothing":           {section: "7", manifest: podYAML("volcano.sh/jdb-min-available: '0'"), where: "metadata.annotations[volcano.sh/jdb-min-available]", says: []string{"positive integer", "1% to 99%"}},
		"a budget of everything":        {section: "7", manifest: podYAML("volcano.sh/jdb-max-unavailable: 100%"), where: "metadata.annotations[volcano.sh/jdb-max-unavailable]", says: []string{"1% to 99%"}},
		"two budgets":                   {section: "7", manifest: podYAML("volcano.sh/jdb-min-available: '1', volcano.sh/jdb-max-unavailable: '1'"), where: "metadata.annotations", says: []string{"not allow configure multiple annotations <[volcano.sh/jdb-min-available volcano.sh/jdb-max-unavailable]> at same time"}},
		"a HyperNode of nobody":         {section: "10", manifest: hyperNodeYAML("tier: 1, members: []"), where: "spec.members", says: []string{"member must have at least one member"}, kube: []string{"spec.members", "should have at least 1 items"}},
		"a pattern that is none":        {section: "10", manifest: hyperNodeYAML("tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: 'a('}}}]"), where: "spec.members[0].selector.regexMatch.pattern", says: []string{"regular expression"}},
		"a member that is not selected": {section: "10", manifest: hyperNodeYAML("tier: 1, members: [{type: Node, selector: {}}]"), where: "spec.members[0].selector", says: []string{"Either ExactMatch or RegexMatch or LabelMatch must be specified"}},
		"a member selected twice":       {section: "10", manifest: hyperNodeYAML("tier: 1, members: [{type: Node, selector: {exactMatch: {name: a}, regexMatch: {pattern: b}}}]"), where: "spec.members[0].selector", says: []string{"Only one of ExactMatch, RegexMatch, or LabelMatch can be specified"}},
	}
}

// refusedFlows returns the rows of admission.md §8 and §9, and rows about the jobs inside such objects.
func refusedFlows() map[string]refused {
	const mounts = "{name: work, replicas: 1, template: {spec: {containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /v}]}]}}}"
	good := ", jobTemplate: {spec: {tasks: [" + work + "]}}"
	long := strings.Repeat("x", 53)
	return map[string]refused{
		"a step after nobody":             {section: "8", manifest: flowYAML("{name: a, dependsOn: {targets: [b]}}"), where: "spec.flows[0].dependsOn.targets[0]", says: []string{"jobflow Flow is not DAG: vertex is not defined: b"}},
		"steps in a circle":               {section: "8", manifest: flowYAML("{name: a, dependsOn: {targets: [b]}}, {name: b, dependsOn: {targets: [a]}}"), where: "spec.flows", says: []string{"jobflow Flow is not DAG", "a -> b -> a"}},
		"a step twice":                    {section: "8", manifest: flowYAML("{name: a}, {name: a}"), where: "spec.flows[1].name", says: []string{"Duplicate value"}},
		"a probe of no port":              {section: "8", manifest: flowYAML("{name: a}, {name: b, dependsOn: {targets: [a], probe: {tcpSocketList: [{taskName: t, port: 70000}]}}}"), where: "spec.flows[1].dependsOn.probe.tcpSocketList[0].port", says: []string{"65535"}},
		"a probe of no task":              {section: "8", manifest: flowYAML("{name: a}, {name: b, dependsOn: {targets: [a], probe: {httpGetList: [{port: 80}]}}}"), where: "spec.flows[1].dependsOn.probe.httpGetList[0].taskName", says: []string{"specify the task whose pods the probe checks"}},
		"a probe of no target":            {section: "8", manifest: flowYAML("{name: a, dependsOn: {probe: {tcpSocketList: [{taskName: t, port: 80}]}}}"), where: "spec.flows[0].dependsOn.targets", says: []string{"specify targets, because the probe checks the tasks of the targets"}},
		"a probe of a phase that is none": {section: "8", manifest: flowYAML("{name: a}, {name: b, dependsOn: {targets: [a], probe: {taskStatusList: [{taskName: t, phase: Happy}]}}}"), where: "spec.flows[1].dependsOn.probe.taskStatusList[0].phase", says: []string{"Happy", "Pending", "Running"}},
		"a step whose job has no name":    {section: "8", manifest: flowYAML("{name: " + long + long + "}"), where: "spec.flows[0].name", says: []string{"the step's job would be named bad-" + long}},
		"a patch of an internal event":    {section: "8", manifest: flowYAML("{name: a, patch: {jobSpec: {policies: [{event: OutOfSync, action: RestartJob}]}}}"), where: "spec.flows[0].patch.jobSpec.policies[0].event", says: []string{"invalid policy event"}},
		"a patch to queue root":           {section: "8", manifest: flowYAML("{name: a, patch: {jobSpec: {queue: root}}}"), where: "spec.flows[0].patch.jobSpec.queue", says: []string{"can not submit job to root queue"}},
		"a patch in a circle":             {section: "8", manifest: flowYAML("{name: step, patch: {jobSpec: {tasks: [{name: work, dependsOn: {name: [work]}}]}}}"), where: "spec.flows[0].patch.jobSpec", says: []string{"the step's job bad-step, created from JobTemplate step, would be rejected: spec.tasks", "doesn't form a directed acyclic graph(DAG)"}},
		"a flow of long pod names":        {section: "8", manifest: strings.Replace(flowYAML("{name: step}"), "name: bad", "name: "+long[:52], 1), where: "spec.flows[0].name", says: []string{"the last pod would be named " + long[:52] + "-step-work-1"}},
		"a template of nothing":           {section: "8", manifest: templateYAML("tasks: []"), where: "spec.tasks", says: []string{"No task specified in job spec"}},
		"a template Kubernetes refuses":   {section: "8", manifest: templateYAML("tasks: [" + mounts + "]"), where: "spec.tasks[0].template.spec.containers[0].volumeMounts[0].name", says: []string{"Not found"}},
		"no schedule":                     {section: "9", manifest: cronYAML("", good), where: "spec.schedule", says: []string{"equired"}, kube: []string{"spec.schedule"}},
		"a zone in the schedule":          {section: "9", manifest: cronYAML("TZ=UTC 0 1 * * *", good), where: "spec.schedule", says: []string{"schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field"}},
		"a schedule that is none":         {section: "9", manifest: cronYAML("61 * * * *", good), where: "spec.schedule", says: []string{"schedule is not a valid cron expression"}},
		"a schedule of six fields":        {section: "9", manifest: cronYAML("0 0 1 * * *", good), where: "spec.schedule", says: []string{"schedule is not a valid cron expression"}},
		"the 30th of February":            {section: "9", manifest: cronYAML("0 0 30 2 *", good), where: "spec.schedule", says: []string{"the schedule never starts a job"}},
		"every half minute":               {section: "9", manifest: cronYAML("@every 30s", good), where: "spec.schedule", says: []string{"more often than once a minute"}},
		"an empty zone":                   {section: "9", manifest: cronYAML("0 1 * * *", ", timeZone: ''"+good), where: "spec.timeZone", says: []string{"timeZone must be nil or non-empty string, got empty string"}},
		"a zone that is unknown":          {section: "9", manifest: cronYAML("0 1 * * *", ", timeZone: Nowhere/Atall"+good), where: "spec.timeZone", says: []string{"invalid timeZone"}},
		"a zone with dots":                {section: "9", manifest: cronYAML("0 1 * * *", ", timeZone: ../../etc"+good), where: "spec.timeZone", says: []string{"unknown timeZone"}},
		"the machine's zone":              {section: "9", manifest: cronYAML("0 1 * * *", ", timeZone: LOCAL"+good), where: "spec.timeZone", says: []string{"timeZone must be an explicit time zone"}},
		"a name without room":             {section: "9", manifest: strings.Replace(cronYAML("0 1 * * *", good), "name: bad", "name: "+long, 1), where: "metadata.name", says: []string{"must be no more than 52 characters"}},
		"a deadline below nothing":        {section: "9", manifest: cronYAML("0 1 * * *", ", startingDeadlineSeconds: -1"+good), where: "spec.startingDeadlineSeconds", says: []string{"greater than or equal to 0"}},
		"a policy that is none":           {section: "9", manifest: cronYAML("0 1 * * *", ", concurrencyPolicy: Sometimes"+good), where: "spec.concurrencyPolicy", says: []string{"Sometimes", "Allow", "Forbid", "Replace"}},
		"a cron job of no queue":          {section: "9", manifest: cronYAML("0 1 * * *", ", jobTemplate: {spec: {queue: root, tasks: ["+work+"]}}"), where: "spec.jobTemplate.spec.queue", says: []string{"can not submit job to root queue"}},
		"a cron job of a bad policy":      {section: "9", manifest: cronYAML("0 1 * * *", ", jobTemplate: {spec: {policies: [{event: OutOfSync, action: RestartJob}], tasks: ["+work+"]}}"), where: "spec.jobTemplate.spec.policies[0].event", says: []string{"invalid policy event"}},
		"a cron job Kubernetes refuses":   {section: "9", manifest: cronYAML("0 1 * * *", ", jobTemplate: {spec: {tasks: ["+mounts+"]}}"), where: "spec.jobTemplate.spec.tasks[0].template.spec.containers[0].volumeMounts[0].name", says: []string{"Not found"}},
		"a cron job of long pod names":    {section: "9", manifest: strings.Replace(cronYAML("0 1 * * *", ", jobTemplate: {spec: {tasks: [{name: downstream, replicas: 1, "+pod+"}]}}"), "name: bad", "name: "+long[:50], 1), where: "spec.jobTemplate.spec.tasks[0].name", says: []string{"the last pod would be named " + long[:50] + "-99999999-downstream-0"}},
		"a cron job held wrongly":         {section: "9", manifest: cronYAML("0 1 * * *", ", jobTemplate: {metadata: {annotations: {vc-batch.dev/hold: perhaps}}, spec: {tasks: ["+work+"]}}"), where: "spec.jobTemplate.metadata.annotations[vc-batch.dev/hold]", says: []string{"perhaps"}},
		"a cron job of a bad array":       {section: "9", manifest: cronYAML("0 1 * * *", ", jobTemplate: {metadata: {annotations: {vc-batch.dev/array: five}}, spec: {tasks: ["+work+"]}}"), where: "spec.jobTemplate.metadata.annotations[vc-batch.dev/array]", says: []string{"five"}},
		"a cron job in a circle":          {section: "9", manifest: cronYAML("0 1 * * *", ", jobTemplate: {spec: {tasks: [{name: a, replicas: 1, dependsOn: {name: [a]}, "+pod+"}]}}"), where: "spec.jobTemplate.spec.tasks", says: []string{"doesn't form a directed acyclic graph(DAG)"}},
	}
}
