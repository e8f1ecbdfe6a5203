package v1alpha1

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
)

// DefaultMaxRetry is the default number of runs of a job, and of restarts of a task's containers.
const DefaultMaxRetry = 3

// impliedPlugins lists the plugins that other plugins require.
var impliedPlugins = map[string][]string{
	PluginTensorFlow: {PluginService},
	PluginMPI:        {PluginService, PluginSSH},
	PluginPyTorch:    {PluginService},
	PluginRay:        {PluginService},
}

// The plugins of a job, under the names that they have in Volcano.
const (
	PluginSSH        = "ssh"
	PluginService    = "svc"
	PluginEnv        = "env"
	PluginTensorFlow = "tensorflow"
	PluginMPI        = "mpi"
	PluginPyTorch    = "pytorch"
	PluginHCCLRank   = "hcclrank"
	PluginRay        = "ray"
)

// DefaultJob sets the defaults of a Job. If schedulerName is empty, the default scheduler is "volcano". DefaultJob is
// idempotent.
func DefaultJob(job *Job, schedulerName string) {
	spec := &job.Spec
	schedulerName = cmp.Or(schedulerName, keys.DefaultSchedulerName)
	spec.Queue = cmp.Or(spec.Queue, keys.DefaultQueue)
	spec.SchedulerName = cmp.Or(spec.SchedulerName, schedulerName)
	spec.MaxRetry = cmp.Or(spec.MaxRetry, DefaultMaxRetry)
	defaultArray(job)
	for i := range spec.Tasks {
		defaultTask(&spec.Tasks[i], i)
	}
	if spec.MinAvailable == 0 {
		spec.MinAvailable = sumOfMinimums(spec.Tasks)
	}
	for plugin := range spec.Plugins {
		for _, implied := range impliedPlugins[plugin] {
			if _, ok := spec.Plugins[implied]; !ok {
				spec.Plugins[implied] = []string{}
			}
		}
	}
}

// DefaultTaskName returns the name of an unnamed task with this index.
func DefaultTaskName(index int) string {
	return "default" + strconv.Itoa(index)
}

func defaultTask(task *TaskSpec, index int) {
	if task.Name == "" {
		task.Name = DefaultTaskName(index)
	}
	if pod := &task.Template.Spec; pod.HostNetwork && pod.DNSPolicy == "" {
		pod.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	if task.MinAvailable == nil {
		task.MinAvailable = new(defaultMinimum(task))
	}
	task.MaxRetry = cmp.Or(task.MaxRetry, DefaultMaxRetry)
}

func defaultMinimum(task *TaskSpec) int32 {
	if policy := task.PartitionPolicy; policy != nil && policy.MinPartitions > 0 {
		return policy.MinPartitions * policy.PartitionSize
	}
	return max(task.Replicas, 0) // validation rejects negative replicas
}

// sumOfMinimums returns the default minAvailable of a job: the sum of its tasks' minimums. It caps a sum that is too
// large for the field; validation then rejects the replicas.
func sumOfMinimums(tasks []TaskSpec) int32 {
	var sum int64
	for i := range tasks {
		if minimum := tasks[i].MinAvailable; minimum != nil {
			sum += int64(*minimum)
		} else {
			sum += int64(tasks[i].Replicas)
		}
	}
	const most = 1<<31 - 1
	return int32(max(min(sum, most), 0))
}
