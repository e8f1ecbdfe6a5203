package v1alpha1

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// QueueLookup provides access to the existing queues during validation.
type QueueLookup = schedulingv1beta1.QueueLookup

const (
	// MaxTasks is the maximum number of tasks of a job, which is the same as in the CRD.
	MaxTasks = 500
	// MaxReplicas is the maximum number of pods of a job in any installation, which is more than a Kubernetes cluster
	// can run. The CRD applies the same limit to each task.
	MaxReplicas = 1_000_000
	// DefaultMaxReplicas is the default limit for the number of pods of a job.
	DefaultMaxReplicas = 100_000
	// namesInMessage is the maximum number of names in a message.
	namesInMessage = 10
	// tierPair is Volcano's message if both ways to specify a tier are used at the same time.
	tierPair = "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"
)

// ValidateJob returns the validation errors of a new Job whose defaults are set. If queues is nil, the queue is not
// checked.
func ValidateJob(job *Job, queues QueueLookup) field.ErrorList {
	return ValidateEmbeddedJob(job, nil, queues)
}

// ValidateEmbeddedJob is like ValidateJob, but for a job that is embedded in another object at the path at. If the
// job has no name, the names of its pods are not checked.
func ValidateEmbeddedJob(job *Job, at *field.Path, queues QueueLookup) field.ErrorList {
	spec := at.Child("spec")
	if len(job.Spec.Tasks) == 0 {
		return field.ErrorList{field.Required(spec.Child("tasks"), "No task specified in job spec")}
	}
	if n := len(job.Spec.Tasks); n > MaxTasks {
		return field.ErrorList{field.Invalid(spec.Child("tasks"), n, fmt.Sprintf(
			"the job has %d tasks, but the maximum is %d; define identical pods as replicas of one task", n, MaxTasks))}
	}
	errs := validateName(job.Name, field.NewPath("metadata", "name"))
	errs = append(errs, validateScalars(&job.Spec, spec)...)
	errs = append(errs, validateTasks(job, spec.Child("tasks"))...)
	errs = append(errs, validateTotals(job, spec)...)
	errs = append(errs, validatePolicies(job.Spec.Policies, spec.Child("policies"))...)
	errs = append(errs, validatePlugins(job, spec.Child("plugins"))...)
	errs = append(errs, validateVolumes(job.Spec.Volumes, spec.Child("volumes"))...)
	errs = append(errs, validateAdditions(job, spec)...)
	errs = append(errs, validateDependencies(job.Spec.Tasks, spec.Child("tasks"))...)
	errs = append(errs, validateGates(job, at.Child("metadata", "annotations"))...)
	errs = append(errs, validateArray(job, at)...)
	errs = append(errs, schedulingv1beta1.ValidateDisruptionBudget(job.Annotations, at.Child("metadata", "annotations"))...)
	if queues != nil {
		errs = append(errs, validateQueue(job.Spec.Queue, spec.Child("queue"), queues)...)
	}
	return errs
}

// validateName checks that the name of a job is short enough for the labels of its pods.
func validateName(name string, path *field.Path) field.ErrorList {
	if len(name) <= validation.LabelValueMaxLength {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
		"create job with name %s validate failed [must be no more than %d characters]: the name has %d characters", name, validation.LabelValueMaxLength, len(name)))}
}

// validateScalars checks the numbers and names in a job's spec, except for its tasks.
func validateScalars(spec *JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.MinAvailable < 0 {
		errs = append(errs, negative(path.Child("minAvailable"), spec.MinAvailable))
	}
	if spec.MaxRetry < 0 {
		errs = append(errs, negative(path.Child("maxRetry"), spec.MaxRetry))
	}
	if spec.MinSuccess != nil && *spec.MinSuccess < 1 {
		errs = append(errs, field.Invalid(path.Child("minSuccess"), *spec.MinSuccess, "must be greater than or equal to 1"))
	}
	if spec.TTLSecondsAfterFinished != nil && *spec.TTLSecondsAfterFinished < 0 {
		errs = append(errs, negative(path.Child("ttlSecondsAfterFinished"), *spec.TTLSecondsAfterFinished))
	}
	if spec.PriorityClassName != "" {
		for _, text := range validation.IsDNS1123Subdomain(spec.PriorityClassName) {
			errs = append(errs, field.Invalid(path.Child("priorityClassName"), spec.PriorityClassName, text))
		}
	}
	return append(errs, validateTopology(spec.NetworkTopology, path.Child("networkTopology"))...)
}

// validateTotals compares the job's minimum with the replicas of all tasks.
func validateTotals(job *Job, path *field.Path) field.ErrorList {
	total := totalReplicas(job)
	if errs := ValidateReplicas(job, path, MaxReplicas); len(errs) > 0 {
		return errs
	}
	hasNegative := slices.ContainsFunc(job.Spec.Tasks, func(t TaskSpec) bool { return t.Replicas < 0 }) // has an error of its own
	if !hasNegative && total < int64(job.Spec.MinAvailable) {
		return field.ErrorList{field.Invalid(path.Child("minAvailable"), job.Spec.MinAvailable, fmt.Sprintf(
			"job 'minAvailable' should not be greater than total replicas in tasks; the total is %d: lower minAvailable or raise replicas", total))}
	}
	return nil
}

// ValidateReplicas checks that a job has at most the specified number of replicas in all its tasks. spec is the path
// of the job's spec.
func ValidateReplicas(job *Job, spec *field.Path, most int64) field.ErrorList {
	total := totalReplicas(job)
	if total <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(spec.Child("tasks"), total, fmt.Sprintf(
		"the tasks have %d replicas in total, but the maximum is %d: lower replicas, or create several jobs", total, most))}
}

// MoreReplicas reports whether an updated job has more pods than before.
func MoreReplicas(old, updated *Job) bool { return totalReplicas(updated) > totalReplicas(old) }

func totalReplicas(job *Job) int64 {
	var total int64
	for i := range job.Spec.Tasks {
		total += int64(job.Spec.Tasks[i].Replicas)
	}
	return total
}

func validateTasks(job *Job, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	first := map[string]int{}
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		at := path.Index(i)
		if earlier, ok := first[task.Name]; ok {
			errs = append(errs, field.Invalid(at.Child("name"), task.Name, fmt.Sprintf(
				"duplicated task name %s: already used by tasks[%d]", task.Name, earlier)))
		} else {
			first[task.Name] = i
		}
		errs = append(errs, validateTask(job, task, at)...)
	}
	return errs
}

func validateTask(job *Job, task *TaskSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, validateTaskName(job, task, path.Child("name"))...)
	errs = append(errs, validateTaskNumbers(job, task, path)...)
	if task.MaxRetry < -1 {
		errs = append(errs, field.Invalid(path.Child("maxRetry"), task.MaxRetry, "must be greater than or equal to -1; -1 means no limit"))
	}
	errs = append(errs, validatePolicies(task.Policies, path.Child("policies"))...)
	errs = append(errs, validatePartitions(job, task, path)...)
	errs = append(errs, validateTemplate(&task.Template, path.Child("template"))...)
	return append(errs, validateNuma(task, path)...)
}

// validateTaskNumbers checks that the replicas and the minimum are not negative and that the minimum does not exceed
// the replicas.
func validateTaskNumbers(job *Job, task *TaskSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if task.Replicas < 0 {
		errs = append(errs, negative(path.Child("replicas"), task.Replicas))
	}
	switch minimum := task.MinAvailable; {
	case minimum == nil:
	case *minimum < 0:
		errs = append(errs, negative(path.Child("minAvailable"), *minimum))
	case task.Replicas >= 0 && *minimum > task.Replicas:
		errs = append(errs, field.Invalid(path.Child("minAvailable"), *minimum, fmt.Sprintf(
			"'minAvailable' is greater than 'replicas' in task: %s, job: %s; the task has %d replicas: lower minAvailable or raise replicas", task.Name, job.Name, task.Replicas)))
	}
	return errs
}

// validateTaskName checks that the name can be part of the names of pods and, if host names are set, of these.
func validateTaskName(job *Job, task *TaskSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, text := range validation.IsDNS1123Label(task.Name) {
		errs = append(errs, field.Invalid(path, task.Name, text))
	}
	if len(errs) > 0 || job.Name == "" {
		return errs
	}
	pod := job.Name + "-" + task.Name + "-" + strconv.Itoa(int(max(task.Replicas-1, 0)))
	if len(pod) > validation.DNS1123LabelMaxLength {
		return append(errs, field.Invalid(path, task.Name, fmt.Sprintf(
			"the last pod would be named %s, which has %d characters; the maximum is %d: use a shorter name for the job or the task",
			pod, len(pod), validation.DNS1123LabelMaxLength)))
	}
	if _, ok := job.Spec.Plugins[PluginService]; ok && strings.Contains(job.Name, ".") {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), job.Name,
			"the svc plugin uses the job name in host names, which must not contain dots"))
	}
	return errs
}

func validateTopology(topology *NetworkTopologySpec, path *field.Path) field.ErrorList {
	if topology == nil {
		return nil
	}
	var errs field.ErrorList
	if topology.HighestTierAllowed != nil && topology.HighestTierName != "" {
		errs = append(errs, field.Invalid(path, topology.HighestTierName, tierPair))
	}
	if topology.HighestTierAllowed != nil && *topology.HighestTierAllowed < 0 {
		errs = append(errs, field.Invalid(path.Child("highestTierAllowed"), *topology.HighestTierAllowed, "must not be negative"))
	}
	return errs
}

// validatePartitions checks that the total number of partitions is consistent with the replicas, and the minimum
// number of partitions with the minimum number of pods.
func validatePartitions(job *Job, task *TaskSpec, path *field.Path) field.ErrorList {
	policy := task.PartitionPolicy
	if policy == nil {
		return nil
	}
	at := path.Child("partitionPolicy")
	var errs field.ErrorList
	if policy.TotalPartitions <= 0 {
		errs = append(errs, field.Invalid(at.Child("totalPartitions"), policy.TotalPartitions, "must be greater than 0"))
	}
	if policy.PartitionSize <= 0 {
		errs = append(errs, field.Invalid(at.Child("partitionSize"), policy.PartitionSize, "must be greater than 0"))
	}
	if policy.MinPartitions < 0 {
		errs = append(errs, negative(at.Child("minPartitions"), policy.MinPartitions))
	}
	if len(errs) > 0 {
		return errs
	}
	size := int64(policy.PartitionSize)
	if pods := int64(policy.TotalPartitions) * size; pods != int64(task.Replicas) {
		errs = append(errs, field.Invalid(path.Child("replicas"), task.Replicas, fmt.Sprintf(
			"'Replicas' are not equal to TotalPartitions*PartitionSize in task: %s, job: %s; the product is %d", task.Name, job.Name, pods)))
	}
	if least := int64(policy.MinPartitions) * size; task.MinAvailable != nil && policy.MinPartitions > 0 && least != int64(*task.MinAvailable) {
		errs = append(errs, field.Invalid(path.Child("minAvailable"), *task.MinAvailable, fmt.Sprintf(
			"'MinAvailable' is not equal to MinPartitions*PartitionSize in task: %s, job: %s; the product is %d", task.Name, job.Name, least)))
	}
	return append(errs, validateTopology(policy.NetworkTopology, at.Child("networkTopology"))...)
}

// validateNuma checks that every container of a task with a NUMA policy requests whole CPUs.
func validateNuma(task *TaskSpec, path *field.Path) field.ErrorList {
	if task.TopologyPolicy == "" || task.TopologyPolicy == None {
		return nil
	}
	var errs field.ErrorList
	check := func(containers []corev1.Container, path *field.Path) {
		for i := range containers {
			resources := containers[i].Resources
			cpu, ok := resources.Requests[corev1.ResourceCPU]
			if !ok {
				cpu = resources.Limits[corev1.ResourceCPU]
			}
			if cpu.MilliValue() == 0 || cpu.MilliValue()%1000 != 0 {
				errs = append(errs, field.Invalid(path.Index(i).Child("resources", "requests").Key("cpu"), cpu.String(), fmt.Sprintf(
					"the cpu request is not a whole number, but topologyPolicy %s requires whole CPUs", task.TopologyPolicy)))
			}
		}
	}
	pod := path.Child("template", "spec")
	check(task.Template.Spec.InitContainers, pod.Child("initContainers"))
	check(task.Template.Spec.Containers, pod.Child("containers"))
	return errs
}

// validateQueue checks that the queue exists, is open and has no child queues.
func validateQueue(name string, path *field.Path, queues QueueLookup) field.ErrorList {
	if name == keys.RootQueue {
		return field.ErrorList{field.Invalid(path, name, "can not submit job to root queue; submit the job to a leaf queue")}
	}
	queue, ok := queues.Queue(name)
	if !ok {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
			"unable to find job queue: queue %q does not exist; open queues: %s", name, openQueues(queues)))}
	}
	if !queue.IsOpen() {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
			"can only submit job to queue with state `Open`, queue `%s` status is `%s`; open queues: %s", name, queue.Status.State, openQueues(queues)))}
	}
	if children := queues.Children(name); len(children) > 0 {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
			"can only submit job to leaf queue, queue `%s` has %d child queues: %s",
			name, len(children), strings.Join(children[:min(len(children), namesInMessage)], ", ")))}
	}
	return nil
}

func openQueues(queues QueueLookup) string {
	if names := schedulingv1beta1.OpenQueueNames(queues, namesInMessage); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	return "none"
}

func negative(path *field.Path, value int32) *field.Error {
	return field.Invalid(path, value, "must not be negative")
}
