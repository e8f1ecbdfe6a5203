package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Action is what a controller is told to do, by a policy of a job or by a Command. Policies may name only the first
// eight.
//
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:XValidation:rule="self in ['AbortJob', 'RestartJob', 'RestartTask', 'RestartPod', 'RestartPartition', 'TerminateJob', 'CompleteJob', 'ResumeJob']",message="invalid policy action; valid actions are AbortJob, RestartJob, RestartTask, RestartPod, RestartPartition, TerminateJob, CompleteJob, ResumeJob"
type Action string

// The actions that users may request, followed by the actions that only controllers use.
const (
	AbortJobAction         Action = "AbortJob"         // stop all pods, but keep the job: it can be resumed
	RestartJobAction       Action = "RestartJob"       // stop all pods and start them again
	RestartTaskAction      Action = "RestartTask"      // the same for one task
	RestartPodAction       Action = "RestartPod"       // the same for one pod
	RestartPartitionAction Action = "RestartPartition" // the same for one partition of a task
	TerminateJobAction     Action = "TerminateJob"     // stop all pods for good
	CompleteJobAction      Action = "CompleteJob"      // declare the job completed, and stop pods that still run
	ResumeJobAction        Action = "ResumeJob"        // start an aborted job again

	SyncJobAction    Action = "SyncJob"
	EnqueueAction    Action = "EnqueueJob"
	SyncQueueAction  Action = "SyncQueue"
	OpenQueueAction  Action = "OpenQueue"
	CloseQueueAction Action = "CloseQueue"
)

// Event is what happened to a job, a task or a pod; policies answer events with actions.
type Event string

// The events that policies may refer to, followed by the internal events.
const (
	AnyEvent           Event = "*"
	PodPendingEvent    Event = "PodPending" // with a timeout: the pod has been pending for that long
	PodRunningEvent    Event = "PodRunning"
	PodFailedEvent     Event = "PodFailed"
	PodEvictedEvent    Event = "PodEvicted" // the pod was deleted, but not by the controller
	JobUnknownEvent    Event = "Unknown"    // the PodGroup lost some of its pods after it was running
	TaskCompletedEvent Event = "TaskCompleted"
	TaskFailedEvent    Event = "TaskFailed" // the restarts of a task reached its maxRetry
	JobUpdatedEvent    Event = "JobUpdated"

	OutOfSyncEvent     Event = "OutOfSync"
	CommandIssuedEvent Event = "CommandIssued"
)

// Command tells a controller to act on its target once; it is deleted when it is taken up.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=commands,scope=Namespaced
type Command struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Action to take.
	// +optional
	Action string `json:"action,omitempty"`
	// TargetObject is what to act on: a Job of this namespace, or a Queue.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(self.kind == 'Job' && self.apiVersion.startsWith('batch.volcano.sh/')) || (self.kind == 'Queue' && self.apiVersion.startsWith('scheduling.volcano.sh/'))",message="a Command acts on a Job of batch.volcano.sh or a Queue of scheduling.volcano.sh, and nobody would carry out this one"
	TargetObject *metav1.OwnerReference `json:"target,omitempty"`
	// Reason is one word that says why.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message says why, for people.
	// +optional
	Message string `json:"message,omitempty"`
}

// CommandList is a list of Commands.
//
// +kubebuilder:object:root=true
type CommandList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Command `json:"items"`
}
