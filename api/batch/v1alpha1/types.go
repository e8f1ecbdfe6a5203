package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// Job is a set of tasks whose pods are scheduled, run and ended together.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=jobs,scope=Namespaced,shortName=vcjob;vj
// +kubebuilder:selectablefield:JSONPath=`.status.state.phase`
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

// JobSpec is the desired state of a Job.
//
// The limits on the lengths of lists do not exist in Volcano. They limit the cost of the validation rules.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minAvailable) || !has(self.tasks) || size(self.tasks) == 0 || self.minAvailable <= self.tasks.map(t, has(t.replicas) ? t.replicas : 0).sum()",fieldPath=".minAvailable",message="job 'minAvailable' should not be greater than total replicas in tasks",messageExpression=`"job 'minAvailable' should not be greater than total replicas in tasks; the total is %d: lower minAvailable or raise replicas".format([self.tasks.map(t, has(t.replicas) ? t.replicas : 0).sum()])`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !has(self.volumes) || self.volumes.all(v, !(has(v.volumeClaim) && has(v.volumeClaimName) && size(v.volumeClaimName) > 0))",optionalOldSelf=true,fieldPath=".volumes",message="conflict: If you want to use an existing PVC, just specify VolumeClaimName.If you want to create a new PVC, you do not need to specify VolumeClaimName"
// +kubebuilder:validation:XValidation:rule="!has(self.tasks) || !has(oldSelf.tasks) || size(self.tasks) == size(oldSelf.tasks)",fieldPath=".tasks",message="job updates may not add or remove tasks"
// +kubebuilder:validation:XValidation:rule="has(self.tasks) && size(self.tasks) > 0",fieldPath=".tasks",reason=FieldValueRequired,message="No task specified in job spec"
type JobSpec struct {
	// SchedulerName is the name of the scheduler for all pods whose template does not specify one.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	SchedulerName string `json:"schedulerName,omitempty"`
	// MinAvailable is the minimum number of pods that must run at the same time: the size of the gang. 0 means the
	// sum of the tasks' minimums.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinAvailable int32 `json:"minAvailable,omitempty"`
	// Volumes are mounted into all containers of all tasks.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(v, self.exists_one(o, o.mountPath == v.mountPath))",message="duplicated mountPath"
	Volumes []VolumeSpec `json:"volumes,omitempty"`
	// Tasks are the roles of the job. Each task has a pod template and a number of replicas.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:XValidation:rule="[self.filter(t, has(t.name)).map(t, t.name)].all(names, names.all(n, names.indexOf(n) == names.lastIndexOf(n)))",message="duplicated task name",messageExpression="'duplicated task name ' + [self.filter(t, has(t.name)).map(t, t.name)].map(names, names.filter(n, names.indexOf(n) != names.lastIndexOf(n)))[0][0]"
	Tasks []TaskSpec `json:"tasks,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// Policies define how the job reacts to events. They apply to tasks that have no policy of their own for an
	// event.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	Policies []LifecyclePolicy `json:"policies,omitempty"`
	// Plugins maps plugin names to arguments. The plugins are svc, ssh, env, tensorflow, mpi, pytorch, ray and
	// hcclrank.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, p in ['env', 'hcclrank', 'mpi', 'pytorch', 'ray', 'ssh', 'svc', 'tensorflow'])",message="unable to find job plugin: valid plugins are env, hcclrank, mpi, pytorch, ray, ssh, svc, tensorflow",messageExpression="'unable to find job plugin: ' + self.map(p, p).filter(p, !(p in ['env', 'hcclrank', 'mpi', 'pytorch', 'ray', 'ssh', 'svc', 'tensorflow']))[0] + '; valid plugins are env, hcclrank, mpi, pytorch, ray, ssh, svc, tensorflow'"
	Plugins map[string][]string `json:"plugins,omitempty"`
	// RunningEstimate is the expected run time of the job.
	// +optional
	RunningEstimate *metav1.Duration `json:"runningEstimate,omitempty"`
	// Queue is the queue to which the job is submitted.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Queue string `json:"queue,omitempty"`
	// MaxRetry is the maximum number of times that the job may run before it fails. It is restarted one time fewer.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	MaxRetry int32 `json:"maxRetry,omitempty"`
	// TTLSecondsAfterFinished is the time in seconds for which a finished job is kept. If unset, it is kept forever.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// PriorityClassName is the priority class of the job, and of pods whose template does not specify one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// MinSuccess is the number of succeeded pods at which the job is complete.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MinSuccess *int32 `json:"minSuccess,omitempty"`
	// NetworkTopology limits how far apart in the network the pods may be placed.
	// +optional
	NetworkTopology *NetworkTopologySpec `json:"networkTopology,omitempty"`
}

// NetworkTopologyMode determines whether the topology constraint is required or only preferred.
//
// +kubebuilder:validation:Enum=hard;soft
type NetworkTopologyMode string

// The network topology modes.
const (
	HardNetworkTopologyMode NetworkTopologyMode = "hard"
	SoftNetworkTopologyMode NetworkTopologyMode = "soft"
)

// NetworkTopologySpec limits how far apart pods may be placed, in tiers of HyperNodes.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.highestTierAllowed) && has(self.highestTierName) && size(self.highestTierName) > 0)",message="must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"
type NetworkTopologySpec struct {
	// +optional
	// +kubebuilder:default=hard
	Mode NetworkTopologyMode `json:"mode,omitempty"`
	// HighestTierAllowed is the highest tier of a HyperNode in which all pods may be placed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	HighestTierAllowed *int `json:"highestTierAllowed,omitempty"`
	// HighestTierName is the name of the highest tier. It can be set instead of highestTierAllowed.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	HighestTierName string `json:"highestTierName,omitempty"`
}

// VolumeSpec is a volume of the job: an existing claim, or a claim to be created.
//
// +kubebuilder:validation:XValidation:rule="has(self.volumeClaim) || (has(self.volumeClaimName) && size(self.volumeClaimName) > 0)",message="either VolumeClaim or VolumeClaimName must be specified"
type VolumeSpec struct {
	// MountPath is the path at which the volume is mounted in every container.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^[^:]*$`
	MountPath string `json:"mountPath"`
	// VolumeClaimName is the name of an existing claim.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	VolumeClaimName string `json:"volumeClaimName,omitempty"`
	// VolumeClaim describes a claim to be created for this job.
	// +optional
	VolumeClaim *corev1.PersistentVolumeClaimSpec `json:"volumeClaim,omitempty"`
}

// JobEvent is the reason of a Kubernetes event about a Job.
type JobEvent string

// Reasons of events about Jobs.
const (
	CommandIssued   JobEvent = "CommandIssued"
	PluginError     JobEvent = "PluginError"
	PVCError        JobEvent = "PVCError"
	PodGroupError   JobEvent = "PodGroupError"
	ExecuteAction   JobEvent = "ExecuteAction"
	JobStatusError  JobEvent = "JobStatusError"
	PodGroupPending JobEvent = "PodGroupPending"
)

// LifecyclePolicy defines the action to take on an event, on any of multiple events, or on an exit code.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.exitCode) && (has(self.event) || (has(self.events) && size(self.events) > 0)))",message="must not specify event and exitCode simultaneously"
// +kubebuilder:validation:XValidation:rule="has(self.exitCode) || has(self.event) || (has(self.events) && size(self.events) > 0)",message="either event and exitCode should be specified"
type LifecyclePolicy struct {
	// Action is the action to take.
	// +kubebuilder:validation:Required
	Action busv1alpha1.Action `json:"action,omitempty"`
	// Event is the event to handle.
	// +optional
	// +kubebuilder:validation:Enum=*;PodPending;PodRunning;PodFailed;PodEvicted;Unknown;TaskCompleted;OutOfSync;CommandIssued;JobUpdated;TaskFailed
	Event busv1alpha1.Event `json:"event,omitempty"`
	// Events lists the events to handle.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:Enum=*;PodPending;PodRunning;PodFailed;PodEvicted;Unknown;TaskCompleted;OutOfSync;CommandIssued;JobUpdated;TaskFailed
	Events []busv1alpha1.Event `json:"events,omitempty"`
	// ExitCode is the exit code of a failed container to handle. It must not be 0, and must not be combined with
	// events.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self != 0",message="0 is not a valid error code"
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Timeout delays the action. If the event is undone before the timeout expires, the action is not taken.
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// NumaPolicy describes how the CPUs of a task's pods should be placed on NUMA nodes.
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

// TaskSpec describes one role of a job.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minAvailable) || self.minAvailable <= (has(self.replicas) ? self.replicas : 0)",fieldPath=".minAvailable",message="'minAvailable' is greater than 'replicas'",messageExpression=`"'minAvailable' is greater than 'replicas' in task: %s; the task has %d replicas: lower minAvailable or raise replicas".format([has(self.name) ? self.name : "", has(self.replicas) ? self.replicas : 0])`
// +kubebuilder:validation:XValidation:rule="!has(self.partitionPolicy) || self.partitionPolicy.totalPartitions * self.partitionPolicy.partitionSize == (has(self.replicas) ? self.replicas : 0)",fieldPath=".partitionPolicy",message="'Replicas' are not equal to TotalPartitions*PartitionSize",messageExpression=`"'Replicas' are not equal to TotalPartitions*PartitionSize in task: %s; these are %d".format([has(self.name) ? self.name : "", self.partitionPolicy.totalPartitions * self.partitionPolicy.partitionSize])`
type TaskSpec struct {
	// Name is the name of the task. Pods are named JOB-TASK-INDEX.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// Replicas is the number of pods.
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas,omitempty"`
	// MinAvailable is the minimum number of pods of this task in the gang. Defaults to the number of replicas.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinAvailable *int32 `json:"minAvailable,omitempty"`
	// Template is the template of the pods.
	// +optional
	Template corev1.PodTemplateSpec `json:"template,omitempty"`
	// Policies define how the task reacts to events. They take precedence over those of the job.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	Policies []LifecyclePolicy `json:"policies,omitempty"`
	// TopologyPolicy describes how the CPUs of the pods should be placed on NUMA nodes.
	// +optional
	TopologyPolicy NumaPolicy `json:"topologyPolicy,omitempty"`
	// MaxRetry is the number of container restarts that causes the event TaskFailed. 0 means 3, and -1 means no
	// limit.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=-1
	MaxRetry int32 `json:"maxRetry,omitempty"`
	// DependsOn lists tasks that must be ready before the pods of this task are created.
	// +optional
	DependsOn *DependsOn `json:"dependsOn,omitempty"`
	// PartitionPolicy divides the task's pods into groups, each of which is placed together.
	// +optional
	PartitionPolicy *PartitionPolicySpec `json:"partitionPolicy,omitempty"`
}

// PartitionPolicySpec divides the replicas of a task into totalPartitions groups of partitionSize pods.
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

// Iteration determines how many of the listed tasks must be ready.
//
// +kubebuilder:validation:Enum=any;all
type Iteration string

// Values of Iteration.
const (
	IterationAny Iteration = "any"
	IterationAll Iteration = "all"
)

// DependsOn lists the tasks that a task waits for.
type DependsOn struct {
	// Name lists the names of the tasks.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	Name []string `json:"name,omitempty"`
	// +optional
	Iteration Iteration `json:"iteration,omitempty"`
}

// JobPhase is the phase of a job in its life cycle.
//
// +kubebuilder:validation:Enum=Pending;Aborting;Aborted;Running;Restarting;Completing;Completed;Terminating;Terminated;Failed
type JobPhase string

// The phases of a job. Aborted, Completed, Terminated and Failed are final, except that an aborted job can be
// resumed.
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

// JobState is the phase of a job, the reason for it and the time of the last transition.
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

// JobStatus is the state of a job as observed by the job controller.
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
	// Version is incremented each time the pods of the job are stopped. Policies ignore events of pods with an older
	// version.
	// +optional
	Version int32 `json:"version,omitempty"`
	// RetryCount is the number of failures after which policies restarted the job. When it reaches spec.maxRetry, the
	// job fails.
	// +optional
	RetryCount int32 `json:"retryCount,omitempty"`
	// UserRestarts is the number of times that users restarted or resumed the job with a Command. These do not count
	// as retries. This field does not exist in Volcano.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UserRestarts int32 `json:"userRestarts,omitempty"`
	// RefusedPods is the number of pods of the current version that were bound to a node but rejected by it, and were
	// then created again. Such a rejection does not count as a retry; it counts as a failure only after eight times
	// as many rejections as the job has pods. This field does not exist in Volcano.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RefusedPods int32 `json:"refusedPods,omitempty"`
	// RunningDuration is the time from the creation of the job to its last change of phase.
	// +optional
	RunningDuration *metav1.Duration `json:"runningDuration,omitempty"`
	// ControlledResources lists the objects created for the job, in the form plugin-NAME and volume-pvc-NAME.
	// +optional
	ControlledResources map[string]string `json:"controlledResources,omitempty"`
	// Gate describes what is known about the conditions that delay the start of the job. This field does not exist in
	// Volcano.
	// +optional
	Gate *JobGate `json:"gate,omitempty"`
	// Array is the state of the elements of an array. This field does not exist in Volcano.
	// +optional
	Array *ArrayStatus `json:"array,omitempty"`
	// Finished maps each task to the indices of the pods that have succeeded and will not run again, for example
	// 0-4,7. It is set only for jobs that request this. This field does not exist in Volcano.
	// +optional
	Finished map[string]string `json:"finished,omitempty"`
	// Failure describes the first failed pod if its failure ended the job or the job's last attempt, or triggered a
	// policy that did. It is cleared when the job starts again, completes, or is ended by a user. This field does not
	// exist in Volcano.
	// +optional
	Failure *JobFailure `json:"failure,omitempty"`
	// Evictions counts the evictions of pods of the job and describes the last one. Pods are evicted for a job with a
	// higher priority, by a queue that reclaims its resources, or because a node is drained. Restarts do not clear
	// this field. It does not exist in Volcano.
	// +optional
	Evictions *JobEvictions `json:"evictions,omitempty"`
	// Nodes lists the nodes on which the pods of the last run were placed. It is written before pods are stopped or
	// deleted, when the job ends or, for an array, also when pods of an element are stopped. It contains at most
	// 1,000 pods. A restart clears it. This field does not exist in Volcano.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1000
	Nodes []JobNode `json:"nodes,omitempty"`
	// Reports contains the termination messages of deleted pods in which launchers of Slurm jobs reported results, by
	// task and index. The messages would otherwise be lost with the pods. At most 1,000 reports with a total of 64
	// KiB of messages are kept. Creating a pod again clears its report, and a restart of the job clears all reports.
	// This field does not exist in Volcano.
	// +optional
	// +listType=map
	// +listMapKey=task
	// +listMapKey=index
	// +kubebuilder:validation:MaxItems=1000
	Reports []PodReport `json:"reports,omitempty"`
	// Attempts describes the latest attempts to run the job before the current one, oldest first. The accounting
	// database records them. This field does not exist in Volcano.
	// +optional
	// +listType=map
	// +listMapKey=number
	// +kubebuilder:validation:MaxItems=8
	Attempts []JobAttempt `json:"attempts,omitempty"`
	// Conditions lists the phases that the job has had, oldest first, each of them once.
	// +optional
	// +patchMergeKey=status
	// +patchStrategy=merge
	Conditions []JobCondition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"status"`
}

// JobCondition records when a job last entered a phase.
type JobCondition struct {
	Status JobPhase `json:"status"`
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}
