package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// JobFlow is a set of jobs, some of which depend on others.
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

// JobFlowSpec describes the steps of a flow and their dependencies.
type JobFlowSpec struct {
	// Flows lists the steps. Each step becomes a job named JOBFLOW-STEP.
	//
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Flows []Flow `json:"flows,omitempty"`
	// JobRetainPolicy determines whether the jobs are kept or deleted when all of them have completed.
	// +optional
	JobRetainPolicy RetainPolicy `json:"jobRetainPolicy,omitempty"`
}

// RetainPolicy determines what happens to the jobs of a flow that has succeeded.
//
// +kubebuilder:validation:Enum=retain;delete
type RetainPolicy string

// The retain policies.
const (
	Retain RetainPolicy = "retain"
	Delete RetainPolicy = "delete"
)

// Flow is a step of a flow.
type Flow struct {
	// Name is the name of the step and of the JobTemplate, in the flow's namespace, from which its job is created.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
	// DependsOn describes what the step waits for.
	// +optional
	DependsOn *DependsOn `json:"dependsOn,omitempty"`
	// Patch changes the template for this step.
	// +optional
	Patch *Patch `json:"patch,omitempty"`
}

// DependsOn describes what a step waits for.
type DependsOn struct {
	// Targets lists steps of the flow. If there is no probe, their jobs must have completed.
	//
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Targets []string `json:"targets,omitempty"`
	// Probe lets the step begin while its targets are still running, as soon as all conditions of the probe are met.
	// A completed target meets all conditions.
	// +optional
	Probe *Probe `json:"probe,omitempty"`
}

// Patch changes a template for one step.
type Patch struct {
	// JobSpec is merged into the spec of the template, with the same rules as kubectl patch: the fields that are set
	// here replace those of the template, while tasks, containers and their lists are matched by name.
	//
	// +optional
	batchv1alpha1.JobSpec `json:"jobSpec,omitempty"`
}

// Probe lists conditions on the tasks of a step's targets, all of which must be met.
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

// HTTPGet is a condition that is met if every pod of a task responds to a request with a status code from 200 to 399.
type HTTPGet struct {
	// TaskName is the name of a task in the job of a target.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TaskName string `json:"taskName,omitempty"`
	// Path is the path of the request. Defaults to /.
	// +optional
	Path string `json:"path,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port int `json:"port,omitempty"`
	// HTTPHeader is a header to send with the request.
	// +optional
	HTTPHeader corev1.HTTPHeader `json:"httpHeader,omitempty"`
}

// TCPSocket is a condition that is met if every pod of a task accepts connections.
type TCPSocket struct {
	// TaskName is the name of a task in the job of a target.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TaskName string `json:"taskName,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +required
	Port int `json:"port"`
}

// TaskStatus is a condition that is met if at least the minimum number of pods of a task are in a phase.
type TaskStatus struct {
	// TaskName is the name of a task in the job of a target.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TaskName string `json:"taskName,omitempty"`
	// Phase is the phase of the pods: Pending, Running, Succeeded or Failed.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Phase string `json:"phase,omitempty"`
}

// JobFlowStatus is the current state of a flow.
type JobFlowStatus struct {
	// PendingJobs and the following lists contain the names of the flow's jobs by phase.
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
	// UnKnowJobs lists the jobs in any other phase.
	// +optional
	UnKnowJobs []string `json:"unKnowJobs,omitempty"`
	// JobStatusList contains the current and past states of each job. It is kept even if the jobs are deleted.
	// +optional
	JobStatusList []JobStatus `json:"jobStatusList,omitempty"`
	// Conditions contains a summary of the states by job name.
	// +optional
	Conditions map[string]Condition `json:"conditions,omitempty"`
	// +optional
	State State `json:"state,omitempty"`
}

// JobStatus is the state of one job of a flow.
type JobStatus struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	State batchv1alpha1.JobPhase `json:"state,omitempty"`
	// StartTimestamp is the time when the job was created.
	// +optional
	StartTimestamp metav1.Time `json:"startTimestamp,omitempty"`
	// EndTimestamp is the time when the job ended.
	// +optional
	EndTimestamp metav1.Time `json:"endTimestamp,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +optional
	RestartCount int32 `json:"restartCount,omitempty"`
	// RunningHistories lists the observed phases of the job.
	// +optional
	RunningHistories []JobRunningHistory `json:"runningHistories,omitempty"`
}

// JobRunningHistory is a phase that a job has been in.
type JobRunningHistory struct {
	// +optional
	StartTimestamp metav1.Time `json:"startTimestamp,omitempty"`
	// EndTimestamp is the end of the phase. It is unset while the job is in the phase.
	// +optional
	EndTimestamp metav1.Time `json:"endTimestamp,omitempty"`
	// +optional
	State batchv1alpha1.JobPhase `json:"state,omitempty"`
}

// State is the state of the flow as a whole.
type State struct {
	// +optional
	Phase Phase `json:"phase,omitempty"`
}

// Phase is the phase of a flow.
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

// Condition is a summary of the state of one job of a flow.
type Condition struct {
	Phase           batchv1alpha1.JobPhase `json:"phase,omitempty"`
	CreateTimestamp metav1.Time            `json:"createTime,omitempty"`
	// +optional
	RunningDuration *metav1.Duration                   `json:"runningDuration,omitempty"`
	TaskStatusCount map[string]batchv1alpha1.TaskState `json:"taskStatusCount,omitempty"`
}
