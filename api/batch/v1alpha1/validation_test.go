package v1alpha1

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// jobOf returns a valid job with these tasks of two replicas each, modified and then defaulted.
func jobOf(change func(*Job), tasks ...string) *Job {
	job := &Job{ObjectMeta: metav1.ObjectMeta{Name: "train", Namespace: "nlp"}}
	for _, name := range tasks {
		job.Spec.Tasks = append(job.Spec.Tasks, TaskSpec{
			Name: name, Replicas: 2,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "busybox"}},
			}},
		})
	}
	if change != nil {
		change(job)
	}
	DefaultJob(job, "")
	return job
}

// someQueues returns an open, a closed, a closing and a new queue, and a queue with a child.
func someQueues() QueueLookup {
	queue := func(name, parent string, state schedulingv1beta1.QueueState) *schedulingv1beta1.Queue {
		return &schedulingv1beta1.Queue{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       schedulingv1beta1.QueueSpec{Parent: parent},
			Status:     schedulingv1beta1.QueueStatus{State: state},
		}
	}
	return schedulingv1beta1.NewQueueLookup(
		queue("root", "", schedulingv1beta1.QueueStateOpen), queue("default", "root", schedulingv1beta1.QueueStateOpen),
		queue("shut", "root", schedulingv1beta1.QueueStateClosed), queue("shutting", "", schedulingv1beta1.QueueStateClosing),
		queue("new", "", ""), queue("org", "root", schedulingv1beta1.QueueStateOpen), queue("team", "org", schedulingv1beta1.QueueStateOpen),
	)
}

func TestBadJobs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change      func(*Job)
		where, what string
	}{
		"no task":                             {func(j *Job) { j.Spec.Tasks = nil }, "spec.tasks", "No task specified in job spec"},
		"more tasks than may be":              {func(j *Job) { j.Spec.Tasks = make([]TaskSpec, 10_000) }, "spec.tasks", "the job has 10000 tasks, but the maximum is 500"},
		"minAvailable over replicas":          {func(j *Job) { j.Spec.MinAvailable = 5 }, "spec.minAvailable", "job 'minAvailable' should not be greater than total replicas in tasks; the total is 4"},
		"a negative minAvailable":             {func(j *Job) { j.Spec.MinAvailable = -1 }, "spec.minAvailable", "must not be negative"},
		"a negative maxRetry":                 {func(j *Job) { j.Spec.MaxRetry = -1 }, "spec.maxRetry", "must not be negative"},
		"a time to live below nothing":        {func(j *Job) { j.Spec.TTLSecondsAfterFinished = new(int32(-1)) }, "spec.ttlSecondsAfterFinished", "must not be negative"},
		"minSuccess of nothing":               {func(j *Job) { j.Spec.MinSuccess = new(int32(0)) }, "spec.minSuccess", "greater than or equal to 1"},
		"a priority class that is no name":    {func(j *Job) { j.Spec.PriorityClassName = "A B" }, "spec.priorityClassName", "lowercase"},
		"negative replicas":                   {func(j *Job) { j.Spec.Tasks[1].Replicas = -2 }, "spec.tasks[1].replicas", "must not be negative"},
		"more replicas than any cluster runs": {func(j *Job) { j.Spec.Tasks[0].Replicas, j.Spec.Tasks[1].Replicas = 1_000_000, 1 }, "spec.tasks", "the tasks have 1000001 replicas in total, but the maximum is 1000000"},
		"more replicas than can be counted":   {func(j *Job) { j.Spec.Tasks[0].Replicas, j.Spec.Tasks[1].Replicas = 1<<31-1, 1<<31-1 }, "spec.tasks", "the maximum is"},
		"a task's minAvailable over replicas": {func(j *Job) { j.Spec.Tasks[1].MinAvailable = new(int32(3)) }, "spec.tasks[1].minAvailable", "'minAvailable' is greater than 'replicas' in task: worker, job: train; the task has 2 replicas"},
		"a task's negative minAvailable":      {func(j *Job) { j.Spec.Tasks[1].MinAvailable = new(int32(-3)) }, "spec.tasks[1].minAvailable", "must not be negative"},
		"a task's maxRetry below no limit":    {func(j *Job) { j.Spec.Tasks[1].MaxRetry = -2 }, "spec.tasks[1].maxRetry", "-1 means no limit"},
		"a duplicate task name":               {func(j *Job) { j.Spec.Tasks[1].Name = "master" }, "spec.tasks[1].name", "duplicated task name master: already used by tasks[0]"},
		"a task name with capitals":           {func(j *Job) { j.Spec.Tasks[0].Name = "Master" }, "spec.tasks[0].name", "lower case"},
		"a pod name that is too long":         {func(j *Job) { j.Spec.Tasks[0].Name = strings.Repeat("x", 60) }, "spec.tasks[0].name", "the last pod would be named train-xxx"},
		"a dot in a host name": {func(j *Job) {
			j.Name = "a.b"
			j.Spec.Plugins = map[string][]string{"svc": nil}
		}, "metadata.name", "the svc plugin uses the job name in host names"},
		"an unknown plugin":             {func(j *Job) { j.Spec.Plugins = map[string][]string{"scp": nil} }, "spec.plugins[scp]", "unable to find job plugin: scp"},
		"mpi without its master":        {func(j *Job) { j.Spec.Plugins = map[string][]string{"mpi": {"--master=boss"}} }, "spec.plugins[mpi]", `The specified mpi master task was not found: no task is named "boss"`},
		"both kinds of tier":            {func(j *Job) { j.Spec.NetworkTopology = twoTiers() }, "spec.networkTopology", tierPair},
		"both kinds of tier for a part": {func(j *Job) { j.Spec.Tasks[0].PartitionPolicy = partitions(1, 2, 0, twoTiers()) }, "spec.tasks[0].partitionPolicy.networkTopology", tierPair},
		"partitions that do not add up": {func(j *Job) { j.Spec.Tasks[0].PartitionPolicy = partitions(3, 2, 0, nil) }, "spec.tasks[0].replicas", "'Replicas' are not equal to TotalPartitions*PartitionSize in task: master, job: train; the product is 6"},
		"partitions of nothing":         {func(j *Job) { j.Spec.Tasks[0].PartitionPolicy = partitions(0, 0, 0, nil) }, "spec.tasks[0].partitionPolicy.partitionSize", "greater than 0"},
		"too few partitions for the min": {func(j *Job) {
			j.Spec.Tasks[0].PartitionPolicy = partitions(2, 1, 1, nil)
			j.Spec.Tasks[0].MinAvailable = new(int32(2))
		}, "spec.tasks[0].minAvailable", "'MinAvailable' is not equal to MinPartitions*PartitionSize"},
		"a part of a cpu under NUMA": {func(j *Job) { j.Spec.Tasks[0].TopologyPolicy = Restricted; requests(j, "cpu", "1500m") }, "spec.tasks[0].template.spec.containers[0].resources.requests[cpu]", "is not a whole number"},
		"no cpu under NUMA":          {func(j *Job) { j.Spec.Tasks[0].TopologyPolicy = Restricted }, "spec.tasks[0].template.spec.containers[0].resources.requests[cpu]", "is not a whole number"},
		"an unknown queue":           {func(j *Job) { j.Spec.Queue = "reserch" }, "spec.queue", `unable to find job queue: queue "reserch" does not exist; open queues: default, new, team`},
		"a closed queue":             {func(j *Job) { j.Spec.Queue = "shut" }, "spec.queue", "can only submit job to queue with state `Open`, queue `shut` status is `Closed`"},
		"a closing queue":            {func(j *Job) { j.Spec.Queue = "shutting" }, "spec.queue", "queue `shutting` status is `Closing`"},
		"the root queue":             {func(j *Job) { j.Spec.Queue = "root" }, "spec.queue", "can not submit job to root queue"},
		"a queue with children":      {func(j *Job) { j.Spec.Queue = "org" }, "spec.queue", "can only submit job to leaf queue, queue `org` has 1 child queues: team"},
		"a dependency on nobody":     {func(j *Job) { depend(j, 1, "nobody") }, "spec.tasks[1].dependsOn.name[0]", "directed acyclic graph(DAG): no task of this job has this name"},
		"dependencies in a circle":   {func(j *Job) { depend(j, 0, "worker"); depend(j, 1, "master") }, "spec.tasks", "master -> worker -> master"},
		"a dependency on itself":     {func(j *Job) { depend(j, 0, "master") }, "spec.tasks", "task master depends on itself"},
		"a volume without a place":   {func(j *Job) { j.Spec.Volumes = []VolumeSpec{{VolumeClaimName: "c"}} }, "spec.volumes[0].mountPath", "mountPath is required"},
		"a volume with two places":   {func(j *Job) { j.Spec.Volumes = []VolumeSpec{{MountPath: "/a:/b", VolumeClaimName: "c"}} }, "spec.volumes[0].mountPath", "must not contain ':'"},
		"two volumes in one place": {func(j *Job) {
			j.Spec.Volumes = []VolumeSpec{{MountPath: "/a", VolumeClaimName: "c"}, {MountPath: "/a", VolumeClaimName: "d"}}
		}, "spec.volumes[1].mountPath", "duplicated mountPath: volumes[0] has the same mountPath"},
		"a volume of nothing": {func(j *Job) { j.Spec.Volumes = []VolumeSpec{{MountPath: "/a"}} }, "spec.volumes[0]", "either VolumeClaim or VolumeClaimName must be specified"},
		"a volume of two claims": {func(j *Job) {
			j.Spec.Volumes = []VolumeSpec{{MountPath: "/a", VolumeClaimName: "c", VolumeClaim: &corev1.PersistentVolumeClaimSpec{}}}
		}, "spec.volumes[0]", "just specify VolumeClaimName.If you want"},
		"a claim that is no name":      {func(j *Job) { j.Spec.Volumes = []VolumeSpec{{MountPath: "/a", VolumeClaimName: "C_"}} }, "spec.volumes[0].volumeClaimName", "lowercase"},
		"a budget that cannot be":      {func(j *Job) { j.Annotations = map[string]string{"volcano.sh/jdb-min-available": "0"} }, "metadata.annotations[volcano.sh/jdb-min-available]", "positive integer or a percentage"},
		"no container":                 {func(j *Job) { j.Spec.Tasks[0].Template.Spec.Containers = nil }, "spec.tasks[0].template.spec.containers", "at least one container"},
		"a container without a name":   {func(j *Job) { container(j).Name = "" }, "spec.tasks[0].template.spec.containers[0].name", "Required"},
		"a container with a bad name":  {func(j *Job) { container(j).Name = "a_b" }, "spec.tasks[0].template.spec.containers[0].name", "lower case"},
		"a container without an image": {func(j *Job) { container(j).Image = "" }, "spec.tasks[0].template.spec.containers[0].image", "Required"},
		"two containers of one name": {func(j *Job) {
			j.Spec.Tasks[0].Template.Spec.InitContainers = []corev1.Container{*container(j)}
		}, "spec.tasks[0].template.spec.containers[0].name", "Duplicate"},
		"a restart policy that is none": {func(j *Job) { j.Spec.Tasks[0].Template.Spec.RestartPolicy = "Sometimes" }, "spec.tasks[0].template.spec.restartPolicy", "supported values"},
		"a port that is none":           {func(j *Job) { container(j).Ports = []corev1.ContainerPort{{ContainerPort: 70000}} }, "spec.tasks[0].template.spec.containers[0].ports[0].containerPort", "1 and 65535"},
		"a negative request":            {func(j *Job) { requests(j, "cpu", "-1") }, "spec.tasks[0].template.spec.containers[0].resources.requests[cpu]", "greater than or equal to 0"},
		"half a device":                 {func(j *Job) { requests(j, "nvidia.com/gpu", "500m") }, "spec.tasks[0].template.spec.containers[0].resources.requests[nvidia.com/gpu]", "must be an integer"},
		"a request over its limit":      {func(j *Job) { requests(j, "cpu", "2"); container(j).Resources.Limits = list("cpu", "1") }, "spec.tasks[0].template.spec.containers[0].resources.requests[cpu]", "less than or equal to cpu limit of 1"},
		"a deadline of nothing":         {func(j *Job) { j.Spec.Tasks[0].Template.Spec.ActiveDeadlineSeconds = new(int64(0)) }, "spec.tasks[0].template.spec.activeDeadlineSeconds", "greater than or equal to 1"},
		"a grace period below nothing":  {func(j *Job) { j.Spec.Tasks[0].Template.Spec.TerminationGracePeriodSeconds = new(int64(-1)) }, "spec.tasks[0].template.spec.terminationGracePeriodSeconds", "must not be negative"},
		"a label that is none":          {func(j *Job) { j.Spec.Tasks[0].Template.Labels = map[string]string{"a b": "c"} }, "spec.tasks[0].template.metadata.labels", "name part"},
		"event and exit code in one": {func(j *Job) {
			policies(j, LifecyclePolicy{Event: "PodFailed", ExitCode: new(int32(3)), Action: "RestartJob"})
		}, "spec.tasks[0].policies[0]", "must not specify event and exitCode simultaneously"},
		"neither event nor exit code":    {func(j *Job) { policies(j, LifecyclePolicy{Action: "RestartJob"}) }, "spec.tasks[0].policies[0].event", "either event and exitCode should be specified"},
		"an internal event":              {func(j *Job) { policies(j, LifecyclePolicy{Event: "OutOfSync", Action: "RestartJob"}) }, "spec.tasks[0].policies[0].event", "invalid policy event; valid events are *, PodFailed"},
		"an internal action":             {func(j *Job) { policies(j, LifecyclePolicy{Event: "PodFailed", Action: "SyncJob"}) }, "spec.tasks[0].policies[0].action", "invalid policy action; valid actions are AbortJob"},
		"an unknown action for a code":   {func(j *Job) { policies(j, LifecyclePolicy{ExitCode: new(int32(3)), Action: "Explode"}) }, "spec.tasks[0].policies[0].action", "invalid policy action"},
		"exit code 0":                    {func(j *Job) { policies(j, LifecyclePolicy{ExitCode: new(int32(0)), Action: "RestartJob"}) }, "spec.tasks[0].policies[0].exitCode", "0 is not a valid error code"},
		"an exit code answered twice":    {func(j *Job) { policies(j, code(3), code(4), code(3)) }, "spec.tasks[0].policies[2].exitCode", "duplicate exitCode 3"},
		"an event answered twice":        {func(j *Job) { policies(j, event("PodFailed"), event("PodEvicted", "PodFailed")) }, "spec.tasks[0].policies[1].event", "duplicate event PodFailed  across different policy"},
		"any event and another one":      {func(j *Job) { policies(j, event("*"), event("PodFailed")) }, "spec.tasks[0].policies", "if there's * here, no other policy should be here"},
		"the same among the job's rules": {func(j *Job) { j.Spec.Policies = []LifecyclePolicy{event("*", "PodFailed")} }, "spec.policies", "if there's * here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireError(t, ValidateJob(jobOf(test.change, "master", "worker"), someQueues()), test.where, test.what)
		})
	}
}

func TestNegativeReplicasAreOneMistake(t *testing.T) {
	t.Parallel()
	job := jobOf(func(j *Job) {
		j.Spec.MinAvailable = 0
		j.Spec.Tasks[0].Replicas, j.Spec.Tasks[0].MinAvailable = -2, nil
	}, "master")
	DefaultJob(job, "")
	if errs := ValidateJob(job, someQueues()); len(errs) != 1 || errs[0].Field != "spec.tasks[0].replicas" {
		t.Errorf("%d errors: %v", len(errs), errs.ToAggregate())
	}
}

func TestGoodJobs(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Job){
		"the plain job":                    nil,
		"a queue that nobody has seen yet": func(j *Job) { j.Spec.Queue = "new" },
		"tasks scaled to nothing":          func(j *Job) { j.Spec.Tasks[0].Replicas, j.Spec.Tasks[1].Replicas = 0, 0 },
		"names that are defaulted":         func(j *Job) { j.Spec.Tasks[0].Name, j.Spec.Tasks[1].Name = "", "" },
		"an event written twice in one": func(j *Job) {
			policies(j, LifecyclePolicy{Event: "PodFailed", Events: []busv1alpha1.Event{"PodFailed"}, Action: "RestartJob"})
		},
		"events and codes side by side": func(j *Job) { policies(j, event("PodFailed"), event("PodEvicted"), code(3)) },
		"all plugins that are served": func(j *Job) {
			j.Spec.Plugins = map[string][]string{"svc": nil, "ssh": nil, "env": nil}
		},
		"partitions that add up": func(j *Job) { j.Spec.Tasks[0].PartitionPolicy = partitions(2, 1, 1, nil) },
		"a dependency":           func(j *Job) { depend(j, 1, "master") },
		"whole cpus under NUMA, by limits": func(j *Job) {
			j.Spec.Tasks[0].TopologyPolicy = BestEffort
			container(j).Resources.Limits = list("cpu", "2")
		},
		"a name that the server will make": func(j *Job) { j.Name, j.GenerateName = "", "train-" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if errs := ValidateJob(jobOf(change, "master", "worker"), someQueues()); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func TestWithoutQueuesNothingIsSaidOfThem(t *testing.T) {
	t.Parallel()
	if errs := ValidateJob(jobOf(func(j *Job) { j.Spec.Queue = "nowhere" }, "a"), nil); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

func TestAllErrorsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	errs := ValidateJob(jobOf(func(j *Job) {
		j.Spec.MinAvailable = 9
		j.Spec.Tasks[1].Name = "a"
		j.Spec.Queue = "nowhere"
	}, "a", "b"), someQueues())
	if len(errs) != 3 {
		t.Errorf("want 3 errors, got %v", errs.ToAggregate())
	}
}

// requireError fails unless there is an error with this field and text.
func requireError(t *testing.T, errs field.ErrorList, where, what string) {
	t.Helper()
	for _, err := range errs {
		if strings.HasPrefix(err.Field, where) && strings.Contains(err.Error(), what) {
			return
		}
	}
	t.Errorf("want %s: …%s…, got %v", where, what, errs.ToAggregate())
}

func twoTiers() *NetworkTopologySpec {
	return &NetworkTopologySpec{HighestTierAllowed: new(1), HighestTierName: "rack"}
}

func partitions(total, size, least int32, topology *NetworkTopologySpec) *PartitionPolicySpec {
	return &PartitionPolicySpec{TotalPartitions: total, PartitionSize: size, MinPartitions: least, NetworkTopology: topology}
}

func list(name corev1.ResourceName, quantity string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(quantity)}
}

func container(j *Job) *corev1.Container { return &j.Spec.Tasks[0].Template.Spec.Containers[0] }

func requests(j *Job, name corev1.ResourceName, quantity string) {
	container(j).Resources.Requests = list(name, quantity)
}

func depend(j *Job, task int, on ...string) { j.Spec.Tasks[task].DependsOn = &DependsOn{Name: on} }

func policies(j *Job, policies ...LifecyclePolicy) { j.Spec.Tasks[0].Policies = policies }

func event(events ...busv1alpha1.Event) LifecyclePolicy {
	return LifecyclePolicy{Events: events, Action: busv1alpha1.RestartJobAction}
}

func code(code int32) LifecyclePolicy {
	return LifecyclePolicy{ExitCode: &code, Action: busv1alpha1.RestartJobAction}
}

func ExampleValidateJob() {
	job := jobOf(func(j *Job) { j.Spec.Tasks[1].MinAvailable = new(int32(4)) }, "master", "worker")
	job.Spec.MinAvailable = 2
	for _, err := range ValidateJob(job, nil) {
		fmt.Println(err)
	}
	// Output:
	// spec.tasks[1].minAvailable: Invalid value: 4: 'minAvailable' is greater than 'replicas' in task: worker, job: train; the task has 2 replicas: lower minAvailable or raise replicas
}
