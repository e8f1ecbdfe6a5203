package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Plan asks the scheduler what would happen if some objects were submitted now. The scheduler answers in its status, once, and deletes it a few
// minutes later. Nothing of it is carried out.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=plans,scope=Namespaced
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.verdict`
// +kubebuilder:printcolumn:name="Answered",type=date,JSONPath=`.status.answeredAt`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Plan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a plan cannot change; create another one"
	Spec PlanSpec `json:"spec"`
	// +optional
	Status PlanStatus `json:"status,omitempty"`
}

// PlanList is a list of Plans.
//
// +kubebuilder:object:root=true
type PlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Plan `json:"items"`
}

// PlanSpec is what is only thought of.
type PlanSpec struct {
	// Objects are thought of as submitted all at once: Jobs (batch.volcano.sh/v1alpha1), PodGroups (scheduling.volcano.sh/v1beta1) and Pods of the Plan's namespace,
	// and Queues (scheduling.volcano.sh/v1beta1) as they would be after a change. A Pod belongs to the PodGroup of the Plan that its annotation names, else it gets
	// one of its own. Of a Queue status.state is heeded, too.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Type=object
	// +kubebuilder:validation:items:XEmbeddedResource
	// +kubebuilder:validation:items:XPreserveUnknownFields
	// +listType=atomic
	Objects []runtime.RawExtension `json:"objects"`
}

// Verdict is the answer in a word.
// +kubebuilder:validation:Enum=Starts;Waits;Never
type Verdict string

// The verdicts, from best to worst.
const (
	// VerdictStarts means that its pods get nodes immediately, or as soon as the named victims have ended.
	VerdictStarts Verdict = "Starts"
	// VerdictWaits means that it would be accepted and wait.
	VerdictWaits Verdict = "Waits"
	// VerdictNever means that in this form it would be rejected, or wait forever.
	VerdictNever Verdict = "Never"
)

// PlanStatus is the answer.
type PlanStatus struct {
	// AnsweredAt is when the scheduler looked at the cluster. Unset: it has not yet.
	// +optional
	AnsweredAt *metav1.Time `json:"answeredAt,omitempty"`
	// Verdict is the worst one of the answers.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
	// TakenUpAt is when a scheduler began to simulate the plan. A plan that was taken up and has no answer is not simulated again: the
	// simulation may be what ended the scheduler.
	// +optional
	TakenUpAt *metav1.Time `json:"takenUpAt,omitempty"`
	// Problem is why there is no answer at all.
	// +optional
	Problem string `json:"problem,omitempty"`
	// Hint says what to do about the problem.
	// +optional
	Hint string `json:"hint,omitempty"`
	// Answers, one for each object, in the order of the objects.
	// +optional
	// +listType=atomic
	Answers []Answer `json:"answers,omitempty"`
	// Starts are gangs that are there and would start because of what is planned.
	// +optional
	// +listType=atomic
	Starts []StartingGang `json:"starts,omitempty"`
	// Victims are pods that would be evicted because of what is planned, but not for a planned job: a queue that gets more takes it from others.
	// +optional
	// +listType=atomic
	Victims []Victim `json:"victims,omitempty"`
	// VictimCount is how many they are; Victims names at most 500 of them.
	// +optional
	VictimCount int32 `json:"victimCount,omitempty"`
}

// Answer is what would become of one object.
type Answer struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Verdict is what would become of a job; of a queue: Starts when it would be accepted, else Never.
	Verdict Verdict `json:"verdict"`
	// Message says it in a sentence.
	// +optional
	Message string `json:"message,omitempty"`
	// Problems are why the object would be refused.
	// +optional
	// +listType=atomic
	Problems []Problem `json:"problems,omitempty"`
	// Warnings are what is allowed and most likely not meant.
	// +optional
	// +listType=atomic
	Warnings []string `json:"warnings,omitempty"`
	// Queue that the job is for.
	// +optional
	Queue string `json:"queue,omitempty"`
	// MinMember of Pods must start together.
	// +optional
	MinMember int32 `json:"minMember,omitempty"`
	// Pods is how many would be made at the beginning.
	// +optional
	Pods int32 `json:"pods,omitempty"`
	// Starting is how many of them would get a node.
	// +optional
	Starting int32 `json:"starting,omitempty"`
	// Placements are the nodes that they would get.
	// +optional
	// +listType=atomic
	Placements []Placement `json:"placements,omitempty"`
	// Victims are the pods that would be evicted for it.
	// +optional
	// +listType=atomic
	Victims []Victim `json:"victims,omitempty"`
	// VictimCount is how many they are; Victims names at most 500 of them.
	// +optional
	VictimCount int32 `json:"victimCount,omitempty"`
	// Changes are what of an existing queue would change.
	// +optional
	// +listType=atomic
	Changes []string `json:"changes,omitempty"`
	// Explanation is what the status of the PodGroup would say.
	// +optional
	Explanation *schedulingv1beta1.Explanation `json:"explanation,omitempty"`
}

// Problem is why an object would be refused.
type Problem struct {
	// Field is the path of the field; empty: it is about the whole.
	// +optional
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Placement is pods of one task on one node.
type Placement struct {
	Node string `json:"node"`
	// +optional
	Task string `json:"task,omitempty"`
	Pods int32  `json:"pods"`
	// Later says that they get the room when the victims have left it.
	// +optional
	Later bool `json:"later,omitempty"`
}

// Victim is a pod that would be evicted.
type Victim struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	// Job that the pod belongs to; empty: to none of ours.
	// +optional
	Job string `json:"job,omitempty"`
	// Queue of its gang.
	// +optional
	Queue string `json:"queue,omitempty"`
	// +optional
	Node string `json:"node,omitempty"`
	// Reason is preempt or reclaim, or another action's word.
	Reason string `json:"reason"`
	// Message is what its side would be told.
	// +optional
	Message string `json:"message,omitempty"`
	// For is the gang that gets the room.
	// +optional
	For string `json:"for,omitempty"`
}

// StartingGang is a gang that would start.
type StartingGang struct {
	Namespace string `json:"namespace"`
	// Name of its job, else of its PodGroup.
	Name string `json:"name"`
	// +optional
	Queue string `json:"queue,omitempty"`
	Pods  int32  `json:"pods"`
}
