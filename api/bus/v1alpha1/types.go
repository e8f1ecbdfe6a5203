package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Action is an action that a policy of a job or a Command requests from a controller. Policies may only use the first
// eight actions.
//
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:XValidation:rule="self in ['AbortJob', 'RestartJob', 'RestartTask', 'RestartPod', 'RestartPartition', 'TerminateJob', 'CompleteJob', 'ResumeJob']",message="invalid policy action; valid actions are AbortJob, RestartJob, RestartTask, RestartPod, RestartPartition, TerminateJob, CompleteJob, ResumeJob"
type Action string

// The actions that users may request, followed by the actions that only controllers use.
const (
	AbortJobAction         Action = "AbortJob"         // stop all pods but keep the job, which can be resumed
	RestartJobAction       Action = "RestartJob"       // stop all pods and start them again
	RestartTaskAction      Action = "RestartTask"      // the same for one task
	RestartPodAction       Action = "RestartPod"       // the same for one pod
	RestartPartitionAction Action = "RestartPartition" // the same for one partition of a task
	TerminateJobAction     Action = "TerminateJob"     // stop all pods permanently
	CompleteJobAction      Action = "CompleteJob"      // mark the job as completed and stop pods that are still running
	ResumeJobAction        Action = "ResumeJob"        // start an aborted job again

	SyncJobAction    Action = "SyncJob"
	EnqueueAction    Action = "EnqueueJob"
	SyncQueueAction  Action = "SyncQueue"
	OpenQueueAction  Action = "OpenQueue"
	CloseQueueAction Action = "CloseQueue"
)

// Event is an event that concerns a job, a task or a pod. Policies react to events with actions.
type Event string

// The events that policies may handle, followed by the internal events.
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

// Command requests that a controller perform an action on an object once. The controller deletes the Command when it
// accepts it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=commands,scope=Namespaced
type Command struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Action is the action to perform.
	// +optional
	Action string `json:"action,omitempty"`
	// TargetObject is the object of the action: a Job in the same namespace, or a Queue.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(self.kind == 'Job' && self.apiVersion.startsWith('batch.volcano.sh/')) || (self.kind == 'Queue' && self.apiVersion.startsWith('scheduling.volcano.sh/'))",message="a Command acts on a Job of batch.volcano.sh or a Queue of scheduling.volcano.sh, and no controller would carry out this one"
	TargetObject *metav1.OwnerReference `json:"target,omitempty"`
	// Reason is the reason for the action in one word.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is a human-readable reason for the action.
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
