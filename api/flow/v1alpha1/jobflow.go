package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// JobFlow is a set of jobs of which some wait for others.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=jobflows,scope=Namespaced,shortName=jf
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.state.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type JobFlow struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec JobFlowSpec `json:"spec,omitempty"`
	// +optional
	Status JobFlowStatus `json:"status,omitempty"`
}

// JobFlowList is a list of JobFlows.
//
// +kubebuilder:object:root=true
type JobFlowList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []JobFlow `json:"items"`
}

// JobFlowSpec is what follows what.
type JobFlowSpec struct {
	// Flows are the steps; each becomes a job named <JobFlow>-<step>.
	//
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Flows []Flow `json:"flows,omitempty"`
	// JobRetainPolicy says what becomes of the jobs when all have completed: they are kept, or deleted.
	// +optional
	JobRetainPolicy RetainPolicy `json:"jobRetainPolicy,omitempty"`
}

// RetainPolicy says what becomes of the jobs of a flow that succeeded.
//
// +kubebuilder:validation:Enum=retain;delete
type RetainPolicy string

// The retain policies.
const (
	Retain RetainPolicy = "retain"
	Delete RetainPolicy = "delete"
)

// Flow is one step.
type Flow struct {
	// Name is that of the JobTemplate, in the flow's namespace, that the step's job is made from.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
	// DependsOn is what the step waits for.
	// +optional
	DependsOn *DependsOn `json:"dependsOn,omitempty"`
	// Patch changes the template for this step.
	// +optional
	Patch *Patch `json:"patch,omitempty"`
}

// DependsOn is what a step waits for.
type DependsOn struct {
	// Targets are steps of the flow. Without a probe their jobs must have completed.
	//
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Targets []string `json:"targets,omitempty"`
	// Probe lets the step begin while its targets still run: as soon as all that it names holds. A target that has completed holds.
	// +optional
	Probe *Probe `json:"probe,omitempty"`
}

// Patch changes a template for one step.
type Patch struct {
	// JobSpec is merged into the template's: what is set here takes the place of what is there; tasks, containers and their lists are
	// matched by name, as kubectl patch does it.
	//
	// +optional
	batchv1alpha1.JobSpec `json:"jobSpec,omitempty"`
}

// Probe is all that must hold of the tasks of a step's targets.
type Probe struct {
	// +kubebuilder:validation:MaxItems=64
	// +optional
	HTTPGetList []HTTPGet `json:"httpGetList,omitempty"`
	// +kubebuilder:validation:MaxItems=64
	// +optional
	TCPSocketList []TCPSocket `json:"tcpSocketList,omitempty"`
	// +kubebuilder:validation:MaxItems=64
	// +optional
	TaskStatusList []TaskStatus `json:"taskStatusList,omitempty"`
}

// HTTPGet holds when every pod of a task answers with a status from 200 to 399.
type HTTPGet struct {
	// TaskName is a task of a target's job.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TaskName string `json:"taskName,omitempty"`
	// Path of the request; / when empty.
	// +optional
	Path string `json:"path,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port int `json:"port,omitempty"`
	// HTTPHeader is sent along.
	// +optional
	HTTPHeader corev1.HTTPHeader `json:"httpHeader,omitempty"`
}

// TCPSocket holds when every pod of a task takes a connection.
type TCPSocket struct {
	// TaskName is a task of a target's job.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TaskName string `json:"taskName,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +required
	Port int `json:"port"`
}

// TaskStatus holds when as many pods of a task as it needs at least are in a phase.
type TaskStatus struct {
	// TaskName is a task of a target's job.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TaskName string `json:"taskName,omitempty"`
	// Phase of pods: Pending, Running, Succeeded, Failed.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Phase string `json:"phase,omitempty"`
}

// JobFlowStatus is how a flow stands.
type JobFlowStatus struct {
	// PendingJobs and the lists below are the flow's jobs by their phase.
	// +optional
	PendingJobs []string `json:"pendingJobs,omitempty"`
	// +optional
	RunningJobs []string `json:"runningJobs,omitempty"`
	// +optional
	FailedJobs []string `json:"failedJobs,omitempty"`
	// +optional
	CompletedJobs []string `json:"completedJobs,omitempty"`
	// +optional
	TerminatedJobs []string `json:"terminatedJobs,omitempty"`
	// UnKnowJobs are in any other phase.
	// +optional
	UnKnowJobs []string `json:"unKnowJobs,omitempty"`
	// JobStatusList is how each job stands and stood. It outlives the jobs.
	// +optional
	JobStatusList []JobStatus `json:"jobStatusList,omitempty"`
	// Conditions is the same in short, by the job's name.
	// +optional
	Conditions map[string]Condition `json:"conditions,omitempty"`
	// +optional
	State State `json:"state,omitempty"`
}

// JobStatus is how one job of a flow stands.
type JobStatus struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	State batchv1alpha1.JobPhase `json:"state,omitempty"`
	// StartTimestamp is when the job was created.
	// +optional
	StartTimestamp metav1.Time `json:"startTimestamp,omitempty"`
	// EndTimestamp is when it ended.
	// +optional
	EndTimestamp metav1.Time `json:"endTimestamp,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +optional
	RestartCount int32 `json:"restartCount,omitempty"`
	// RunningHistories are the phases that it was in, as far as they were seen.
	// +optional
	RunningHistories []JobRunningHistory `json:"runningHistories,omitempty"`
}

// JobRunningHistory is one phase that a job was in.
type JobRunningHistory struct {
	// +optional
	StartTimestamp metav1.Time `json:"startTimestamp,omitempty"`
	// EndTimestamp is unset while the phase lasts.
	// +optional
	EndTimestamp metav1.Time `json:"endTimestamp,omitempty"`
	// +optional
	State batchv1alpha1.JobPhase `json:"state,omitempty"`
}

// State is the flow as a whole.
type State struct {
	// +optional
	Phase Phase `json:"phase,omitempty"`
}

// Phase of a flow.
//
// +kubebuilder:validation:Enum=Succeed;Terminating;Failed;Running;Pending
type Phase string

// The phases of a flow.
const (
	Succeed     Phase = "Succeed"
	Terminating Phase = "Terminating"
	Failed      Phase = "Failed"
	Running     Phase = "Running"
	Pending     Phase = "Pending"
)

// Condition is how one job of a flow stands, in short.
type Condition struct {
	Phase           batchv1alpha1.JobPhase `json:"phase,omitempty"`
	CreateTimestamp metav1.Time            `json:"createTime,omitempty"`
	// +optional
	RunningDuration *metav1.Duration                   `json:"runningDuration,omitempty"`
	TaskStatusCount map[string]batchv1alpha1.TaskState `json:"taskStatusCount,omitempty"`
}
