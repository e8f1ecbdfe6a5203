package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// Job is a set of tasks whose pods are scheduled, run and ended as one.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=jobs,scope=Namespaced,shortName=vcjob;vj
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=`.status.state.phase`
// +kubebuilder:printcolumn:name="minAvailable",type=integer,JSONPath=`.status.minAvailable`
// +kubebuilder:printcolumn:name="RUNNINGS",type=integer,JSONPath=`.status.running`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="QUEUE",type=string,priority=1,JSONPath=`.spec.queue`
type Job struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:Required
	Spec JobSpec `json:"spec,omitempty"`
	// +optional
	Status JobStatus `json:"status,omitempty"`
}

// JobList is a list of Jobs.
//
// +kubebuilder:object:root=true
type JobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Job `json:"items"`
}

// JobSpec is what a user wants of a Job.
//
// The limits on the length of lists are ours, not Volcano's: they bound the cost of the rules.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minAvailable) || !has(self.tasks) || size(self.tasks) == 0 || self.minAvailable <= self.tasks.map(t, has(t.replicas) ? t.replicas : 0).sum()",fieldPath=".minAvailable",message="job 'minAvailable' should not be greater than total replicas in tasks",messageExpression=`"job 'minAvailable' should not be greater than total replicas in tasks; they are %d: lower it or raise replicas".format([self.tasks.map(t, has(t.replicas) ? t.replicas : 0).sum()])`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !has(self.volumes) || self.volumes.all(v, !(has(v.volumeClaim) && has(v.volumeClaimName) && size(v.volumeClaimName) > 0))",optionalOldSelf=true,fieldPath=".volumes",message="conflict: If you want to use an existing PVC, just specify VolumeClaimName.If you want to create a new PVC, you do not need to specify VolumeClaimName"
// +kubebuilder:validation:XValidation:rule="!has(self.tasks) || !has(oldSelf.tasks) || size(self.tasks) == size(oldSelf.tasks)",fieldPath=".tasks",message="job updates may not add or remove tasks"
// +kubebuilder:validation:XValidation:rule="has(self.tasks) && size(self.tasks) > 0",fieldPath=".tasks",reason=FieldValueRequired,message="No task specified in job spec"
type JobSpec struct {
	// SchedulerName is the scheduler of all pods whose template names none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	SchedulerName string `json:"schedulerName,omitempty"`
	// MinAvailable is the least number of pods that must run at once: the gang. 0 means the sum of the tasks' minimums.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinAvailable int32 `json:"minAvailable,omitempty"`
	// Volumes are mounted into every container of every task.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(v, self.exists_one(o, o.mountPath == v.mountPath))",message="duplicated mountPath"
	Volumes []VolumeSpec `json:"volumes,omitempty"`
	// Tasks are the roles of the job, each with a pod template and a number of replicas.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:XValidation:rule="[self.filter(t, has(t.name)).map(t, t.name)].all(names, names.all(n, names.indexOf(n) == names.lastIndexOf(n)))",message="duplicated task name",messageExpression="'duplicated task name ' + [self.filter(t, has(t.name)).map(t, t.name)].map(names, names.filter(n, names.indexOf(n) != names.lastIndexOf(n)))[0][0]"
	Tasks []TaskSpec `json:"tasks,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// Policies answer events of any task that has no policy of its own for them.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	Policies []LifecyclePolicy `json:"policies,omitempty"`
	// Plugins by name, each with its arguments: svc, ssh, env, tensorflow, mpi, pytorch, ray, hcclrank.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, p in ['env', 'hcclrank', 'mpi', 'pytorch', 'ray', 'ssh', 'svc', 'tensorflow'])",message="unable to find job plugin: there are env, hcclrank, mpi, pytorch, ray, ssh, svc, tensorflow",messageExpression="'unable to find job plugin: ' + self.map(p, p).filter(p, !(p in ['env', 'hcclrank', 'mpi', 'pytorch', 'ray', 'ssh', 'svc', 'tensorflow']))[0] + '; there are env, hcclrank, mpi, pytorch, ray, ssh, svc, tensorflow'"
	Plugins map[string][]string `json:"plugins,omitempty"`
	// RunningEstimate is how long the job is expected to run.
	// +optional
	RunningEstimate *metav1.Duration `json:"runningEstimate,omitempty"`
	// Queue that the job is submitted to.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Queue string `json:"queue,omitempty"`
	// MaxRetry is how often the job may run before it is Failed. It restarts one time less.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	MaxRetry int32 `json:"maxRetry,omitempty"`
	// TTLSecondsAfterFinished is how long a finished job is kept. Unset: for ever.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// PriorityClassName of the job and of pods whose template names none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// MinSuccess is how many succeeded pods complete the job.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MinSuccess *int32 `json:"minSuccess,omitempty"`
	// NetworkTopology is how close to each other the pods must be placed.
	// +optional
	NetworkTopology *NetworkTopologySpec `json:"networkTopology,omitempty"`
}

// NetworkTopologyMode says whether the topology must be kept or only preferred.
//
// +kubebuilder:validation:Enum=hard;soft
type NetworkTopologyMode string

// The network topology modes.
const (
	HardNetworkTopologyMode NetworkTopologyMode = "hard"
	SoftNetworkTopologyMode NetworkTopologyMode = "soft"
)

// NetworkTopologySpec bounds how far apart pods may be placed, in tiers of HyperNodes.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.highestTierAllowed) && has(self.highestTierName) && size(self.highestTierName) > 0)",message="must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"
type NetworkTopologySpec struct {
	// +optional
	// +kubebuilder:default=hard
	Mode NetworkTopologyMode `json:"mode,omitempty"`
	// HighestTierAllowed is the highest tier of HyperNode that may hold all the pods.
	// +optional
	// +kubebuilder:validation:Minimum=0
	HighestTierAllowed *int `json:"highestTierAllowed,omitempty"`
	// HighestTierName is the same by the tier's name.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	HighestTierName string `json:"highestTierName,omitempty"`
}

// VolumeSpec is a volume of the job: a claim that exists, or one to be made.
//
// +kubebuilder:validation:XValidation:rule="has(self.volumeClaim) || (has(self.volumeClaimName) && size(self.volumeClaimName) > 0)",message="either VolumeClaim or VolumeClaimName must be specified"
type VolumeSpec struct {
	// MountPath in every container.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^[^:]*$`
	MountPath string `json:"mountPath"`
	// VolumeClaimName names a claim that exists.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	VolumeClaimName string `json:"volumeClaimName,omitempty"`
	// VolumeClaim describes a claim that is made for this job.
	// +optional
	VolumeClaim *corev1.PersistentVolumeClaimSpec `json:"volumeClaim,omitempty"`
}

// JobEvent is the reason of a Kubernetes event about a Job.
type JobEvent string

// The reasons of events about Jobs.
const (
	CommandIssued   JobEvent = "CommandIssued"
	PluginError     JobEvent = "PluginError"
	PVCError        JobEvent = "PVCError"
	PodGroupError   JobEvent = "PodGroupError"
	ExecuteAction   JobEvent = "ExecuteAction"
	JobStatusError  JobEvent = "JobStatusError"
	PodGroupPending JobEvent = "PodGroupPending"
)

// LifecyclePolicy answers an event, several events or an exit code with an action.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.exitCode) && (has(self.event) || (has(self.events) && size(self.events) > 0)))",message="must not specify event and exitCode simultaneously"
// +kubebuilder:validation:XValidation:rule="has(self.exitCode) || has(self.event) || (has(self.events) && size(self.events) > 0)",message="either event and exitCode should be specified"
type LifecyclePolicy struct {
	// Action to take.
	// +kubebuilder:validation:Required
	Action busv1alpha1.Action `json:"action,omitempty"`
	// Event that is answered.
	// +optional
	// +kubebuilder:validation:Enum=*;PodPending;PodRunning;PodFailed;PodEvicted;Unknown;TaskCompleted;OutOfSync;CommandIssued;JobUpdated;TaskFailed
	Event busv1alpha1.Event `json:"event,omitempty"`
	// Events that are answered.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:Enum=*;PodPending;PodRunning;PodFailed;PodEvicted;Unknown;TaskCompleted;OutOfSync;CommandIssued;JobUpdated;TaskFailed
	Events []busv1alpha1.Event `json:"events,omitempty"`
	// ExitCode of a failed pod's container; not together with an event. 0 is no failure.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self != 0",message="0 is not a valid error code"
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Timeout delays the action; it is dropped when the event is undone before.
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// NumaPolicy is how a task's pods want their CPUs placed on NUMA nodes.
//
// +kubebuilder:validation:Enum=none;best-effort;restricted;single-numa-node
type NumaPolicy string

// The NUMA policies.
const (
	None           NumaPolicy = "none"
	BestEffort     NumaPolicy = "best-effort"
	Restricted     NumaPolicy = "restricted"
	SingleNumaNode NumaPolicy = "single-numa-node"
)

// TaskSpec is one role of a job.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minAvailable) || self.minAvailable <= (has(self.replicas) ? self.replicas : 0)",fieldPath=".minAvailable",message="'minAvailable' is greater than 'replicas'",messageExpression=`"'minAvailable' is greater than 'replicas' in task: %s; replicas are %d: lower minAvailable or raise replicas".format([has(self.name) ? self.name : "", has(self.replicas) ? self.replicas : 0])`
// +kubebuilder:validation:XValidation:rule="!has(self.partitionPolicy) || self.partitionPolicy.totalPartitions * self.partitionPolicy.partitionSize == (has(self.replicas) ? self.replicas : 0)",fieldPath=".partitionPolicy",message="'Replicas' are not equal to TotalPartitions*PartitionSize",messageExpression=`"'Replicas' are not equal to TotalPartitions*PartitionSize in task: %s; these are %d".format([has(self.name) ? self.name : "", self.partitionPolicy.totalPartitions * self.partitionPolicy.partitionSize])`
type TaskSpec struct {
	// Name of the task; pods are named <job>-<task>-<index>.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// Replicas is the number of pods.
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas,omitempty"`
	// MinAvailable is the least number of pods of this task in the gang. Unset: all replicas.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinAvailable *int32 `json:"minAvailable,omitempty"`
	// Template of the pods.
	// +optional
	Template corev1.PodTemplateSpec `json:"template,omitempty"`
	// Policies of this task; they come before the job's.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	Policies []LifecyclePolicy `json:"policies,omitempty"`
	// TopologyPolicy is how the pods want their CPUs placed on NUMA nodes.
	// +optional
	TopologyPolicy NumaPolicy `json:"topologyPolicy,omitempty"`
	// MaxRetry is how many container restarts make the event TaskFailed. 0 means 3, -1 no limit.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=-1
	MaxRetry int32 `json:"maxRetry,omitempty"`
	// DependsOn names tasks that must be ready before this one's pods are created.
	// +optional
	DependsOn *DependsOn `json:"dependsOn,omitempty"`
	// PartitionPolicy cuts the task's pods into groups that are placed together.
	// +optional
	PartitionPolicy *PartitionPolicySpec `json:"partitionPolicy,omitempty"`
}

// PartitionPolicySpec cuts the replicas of a task into totalPartitions groups of partitionSize.
type PartitionPolicySpec struct {
	// +kubebuilder:validation:Minimum=1
	TotalPartitions int32 `json:"totalPartitions"`
	// +kubebuilder:validation:Minimum=1
	PartitionSize int32 `json:"partitionSize"`
	// +optional
	NetworkTopology *NetworkTopologySpec `json:"networkTopology,omitempty"`
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	MinPartitions int32 `json:"minPartitions,omitempty"`
}

// Iteration says how many of the named tasks must be ready.
//
// +kubebuilder:validation:Enum=any;all
type Iteration string

// The iterations.
const (
	IterationAny Iteration = "any"
	IterationAll Iteration = "all"
)

// DependsOn names the tasks that a task waits for.
type DependsOn struct {
	// Name of the tasks.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	Name []string `json:"name,omitempty"`
	// +optional
	Iteration Iteration `json:"iteration,omitempty"`
}

// JobPhase is where a job is in its life.
//
// +kubebuilder:validation:Enum=Pending;Aborting;Aborted;Running;Restarting;Completing;Completed;Terminating;Terminated;Failed
type JobPhase string

// The phases. Aborted, Completed, Terminated and Failed are final, except that an aborted job can be resumed.
const (
	Pending     JobPhase = "Pending"
	Aborting    JobPhase = "Aborting"
	Aborted     JobPhase = "Aborted"
	Running     JobPhase = "Running"
	Restarting  JobPhase = "Restarting"
	Completing  JobPhase = "Completing"
	Completed   JobPhase = "Completed"
	Terminating JobPhase = "Terminating"
	Terminated  JobPhase = "Terminated"
	Failed      JobPhase = "Failed"
)

// JobState is the phase of a job, with why and since when.
type JobState struct {
	// +optional
	Phase JobPhase `json:"phase,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
}

// TaskState counts the pods of a task by phase.
type TaskState struct {
	// +optional
	Phase map[corev1.PodPhase]int32 `json:"phase,omitempty"`
}

// JobStatus is what the job controller saw.
type JobStatus struct {
	// +optional
	State JobState `json:"state,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinAvailable int32 `json:"minAvailable,omitempty"`
	// +optional
	TaskStatusCount map[string]TaskState `json:"taskStatusCount,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Pending int32 `json:"pending,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Running int32 `json:"running,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Succeeded int32 `json:"succeeded,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Failed int32 `json:"failed,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Terminating int32 `json:"terminating,omitempty"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	Unknown int32 `json:"unknown,omitempty"`
	// Version counts the kills of this job; events of pods of an older version are not answered by policies.
	// +optional
	Version int32 `json:"version,omitempty"`
	// RetryCount counts the failures for which policies restart the job. At spec.maxRetry the job fails instead.
	// +optional
	RetryCount int32 `json:"retryCount,omitempty"`
	// UserRestarts counts the restarts and resumptions that people asked for by a Command. They use up no retry. Ours.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UserRestarts int32 `json:"userRestarts,omitempty"`
	// RefusedPods counts the pods of the present version that nodes did not take in after they had been bound to them, and that were made again. They
	// use up no retry; only eight times as many as the job has pods are taken for failures. Ours.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RefusedPods int32 `json:"refusedPods,omitempty"`
	// RunningDuration is the time from creation to the last change of phase.
	// +optional
	RunningDuration *metav1.Duration `json:"runningDuration,omitempty"`
	// ControlledResources names what was made for the job: plugin-<name>, volume-pvc-<name>.
	// +optional
	ControlledResources map[string]string `json:"controlledResources,omitempty"`
	// Gate is what is known of the conditions on which the job waits before it starts. Ours.
	// +optional
	Gate *JobGate `json:"gate,omitempty"`
	// Array is what became of the elements of an array. Ours.
	// +optional
	Array *ArrayStatus `json:"array,omitempty"`
	// Finished are the indices that have succeeded and are not run again, by task, as 0-4,7: of jobs that ask for that. Ours.
	// +optional
	Finished map[string]string `json:"finished,omitempty"`
	// Failure is what became of the first pod that failed, where that ended the job or its last try, also where a policy answered it. It is taken away
	// when the job starts again, completes, or is ended by a person. Ours.
	// +optional
	Failure *JobFailure `json:"failure,omitempty"`
	// Evictions are how often pods of the job were evicted, and what became of the last ones: for a job of higher priority, by a queue that
	// took its room back, by a drained node. Restarts do not clear it. Ours.
	// +optional
	Evictions *JobEvictions `json:"evictions,omitempty"`
	// Nodes are the nodes on which the pods of the last run were, written before the pods are stopped or deleted: when the job ends, and of an
	// array also when pods of an element are stopped. At most 1,000 pods are named. A restart clears it. Ours.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1000
	Nodes []JobNode `json:"nodes,omitempty"`
	// Reports are what launchers of Slurm jobs reported in pods that were deleted, by task and index: the termination messages that are lost with
	// the pods. At most 1,000 are kept, and 64 KiB of messages. A pod that is created again clears its report, a restart clears all. Ours.
	// +optional
	// +listType=map
	// +listMapKey=task
	// +listMapKey=index
	// +kubebuilder:validation:MaxItems=1000
	Reports []PodReport `json:"reports,omitempty"`
	// Conditions are the phases that the job went through, oldest first, each once.
	// +optional
	// +patchMergeKey=status
	// +patchStrategy=merge
	Conditions []JobCondition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"status"`
}

// JobCondition says when a job entered a phase last.
type JobCondition struct {
	Status JobPhase `json:"status"`
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}
