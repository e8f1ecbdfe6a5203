package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Plan asks the scheduler what would happen if some objects were submitted now. The scheduler simulates this, writes
// the result to the status once, and deletes the Plan a few minutes later. It does not create or change any of the
// objects.
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

// PlanSpec describes the objects to simulate.
type PlanSpec struct {
	// Objects lists the objects, which are simulated as if they were all submitted at the same time: Jobs
	// (batch.volcano.sh/v1alpha1), PodGroups (scheduling.volcano.sh/v1beta1) and Pods in the Plan's namespace, and
	// Queues (scheduling.volcano.sh/v1beta1) in the form that they would have after a change. A Pod belongs to the
	// PodGroup of the Plan that its annotation names; without the annotation, it gets a PodGroup of its own. For a
	// Queue, status.state is taken into account, too.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Type=object
	// +kubebuilder:validation:items:XEmbeddedResource
	// +kubebuilder:validation:items:XPreserveUnknownFields
	// +listType=atomic
	Objects []runtime.RawExtension `json:"objects"`
}

// Verdict is the answer in one word.
// +kubebuilder:validation:Enum=Starts;Waits;Never
type Verdict string

// The verdicts, from best to worst.
const (
	// VerdictStarts means that the pods would get nodes immediately, or as soon as the listed victims have ended.
	VerdictStarts Verdict = "Starts"
	// VerdictWaits means that the object would be accepted and would wait.
	VerdictWaits Verdict = "Waits"
	// VerdictNever means that the object would be rejected in its present form, or would wait forever.
	VerdictNever Verdict = "Never"
)

// PlanStatus contains the answers of the scheduler.
type PlanStatus struct {
	// AnsweredAt is the time of the cluster state that the answers are based on. It is unset while there is no
	// answer.
	// +optional
	AnsweredAt *metav1.Time `json:"answeredAt,omitempty"`
	// Verdict is the worst verdict of all answers.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
	// TakenUpAt is the time when a scheduler began to simulate the plan. A plan for which this is set but which has
	// no answer is not simulated again, because the simulation may have crashed the scheduler.
	// +optional
	TakenUpAt *metav1.Time `json:"takenUpAt,omitempty"`
	// Problem is the reason why there is no answer at all.
	// +optional
	Problem string `json:"problem,omitempty"`
	// Hint describes what to do about the problem.
	// +optional
	Hint string `json:"hint,omitempty"`
	// Answers contains one answer for each object, in the order of the objects.
	// +optional
	// +listType=atomic
	Answers []Answer `json:"answers,omitempty"`
	// Starts lists existing gangs that would start as a result of the plan.
	// +optional
	// +listType=atomic
	Starts []StartingGang `json:"starts,omitempty"`
	// Victims lists pods that would be evicted as a result of the plan, but not to make room for a planned job: for
	// example, a queue that gets a larger share reclaims resources from other queues.
	// +optional
	// +listType=atomic
	Victims []Victim `json:"victims,omitempty"`
	// VictimCount is the total number of these pods; Victims lists at most 500 of them.
	// +optional
	VictimCount int32 `json:"victimCount,omitempty"`
}

// Answer describes what would happen to one object.
type Answer struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Verdict describes what would happen to a job. For a queue, it is Starts if the change would be accepted, and
	// Never otherwise.
	Verdict Verdict `json:"verdict"`
	// Message describes the result in a sentence.
	// +optional
	Message string `json:"message,omitempty"`
	// Problems lists the reasons why the object would be rejected.
	// +optional
	// +listType=atomic
	Problems []Problem `json:"problems,omitempty"`
	// Warnings lists settings that are valid but probably not intended.
	// +optional
	// +listType=atomic
	Warnings []string `json:"warnings,omitempty"`
	// Queue is the name of the job's queue.
	// +optional
	Queue string `json:"queue,omitempty"`
	// MinMember is the minimum number of pods that must start together.
	// +optional
	MinMember int32 `json:"minMember,omitempty"`
	// Pods is the number of pods that would be created initially.
	// +optional
	Pods int32 `json:"pods,omitempty"`
	// Starting is the number of these pods that would get a node.
	// +optional
	Starting int32 `json:"starting,omitempty"`
	// Placements lists the nodes that these pods would get.
	// +optional
	// +listType=atomic
	Placements []Placement `json:"placements,omitempty"`
	// Victims lists the pods that would be evicted to make room for the object.
	// +optional
	// +listType=atomic
	Victims []Victim `json:"victims,omitempty"`
	// VictimCount is the total number of these pods; Victims lists at most 500 of them.
	// +optional
	VictimCount int32 `json:"victimCount,omitempty"`
	// Changes lists what would change in an existing queue.
	// +optional
	// +listType=atomic
	Changes []string `json:"changes,omitempty"`
	// Explanation is the explanation that the status of the PodGroup would contain.
	// +optional
	Explanation *schedulingv1beta1.Explanation `json:"explanation,omitempty"`
}

// Problem is a reason why an object would be rejected.
type Problem struct {
	// Field is the path of the invalid field. It is empty if the problem concerns the whole object.
	// +optional
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Placement is a number of pods of one task on one node.
type Placement struct {
	Node string `json:"node"`
	// +optional
	Task string `json:"task,omitempty"`
	Pods int32  `json:"pods"`
	// Later is true if the pods would be placed only after the victims have ended.
	// +optional
	Later bool `json:"later,omitempty"`
}

// Victim is a pod that would be evicted.
type Victim struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	// Job is the name of the job to which the pod belongs. It is empty if the pod does not belong to a job.
	// +optional
	Job string `json:"job,omitempty"`
	// Queue is the queue of the pod's gang.
	// +optional
	Queue string `json:"queue,omitempty"`
	// +optional
	Node string `json:"node,omitempty"`
	// Reason is preempt, reclaim or the name of another scheduler action.
	Reason string `json:"reason"`
	// Message is the message that the users of the evicted pod would see.
	// +optional
	Message string `json:"message,omitempty"`
	// For is the gang that would get the pod's resources.
	// +optional
	For string `json:"for,omitempty"`
}

// StartingGang is a gang that would start.
type StartingGang struct {
	Namespace string `json:"namespace"`
	// Name is the name of the gang's job. If the gang does not belong to a job, it is the name of the PodGroup.
	Name string `json:"name"`
	// +optional
	Queue string `json:"queue,omitempty"`
	Pods  int32  `json:"pods"`
}
