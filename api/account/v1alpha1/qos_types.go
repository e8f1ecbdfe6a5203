package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// QOS is a quality of service: the priority of jobs and limits for them. A job names its QOS with the label
// vc-batch.dev/qos. Accounts and their users list the QOS that they permit.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=qoses,singular=qos,scope=Cluster
// +kubebuilder:printcolumn:name="PRIORITY-CLASS",type=string,JSONPath=`.spec.priorityClassName`
// +kubebuilder:printcolumn:name="DESCRIPTION",type=string,JSONPath=`.spec.description`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name must have at most 63 characters, because a label of jobs holds it"
type QOS struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec QOSSpec `json:"spec,omitempty"`
}

// QOSList is a list of QOS.
//
// +kubebuilder:object:root=true
type QOSList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []QOS `json:"items"`
}

// QOSSpec describes the priority and the limits of the jobs of a QOS. All limits apply in addition to those of the
// account, except jobLimits, which replace the same limits of the account.
type QOSSpec struct {
	// Description is a text for people.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Description string `json:"description,omitempty"`
	// PriorityClassName is the PriorityClass of the jobs of this QOS. Jobs that name another class are rejected. If it
	// is empty, the QOS does not determine the priority.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// Limits limits all jobs of this QOS together. Slurm calls these limits GrpJobs, GrpSubmit and GrpTRES.
	// +optional
	Limits *QOSLimits `json:"limits,omitempty"`
	// UserLimits limits the jobs of each user in this QOS, in all accounts together. Slurm calls these limits
	// MaxJobsPU, MaxSubmitPU and MaxTRESPU.
	// +optional
	UserLimits *QOSLimits `json:"userLimits,omitempty"`
	// AccountLimits limits the jobs of each account in this QOS, without the accounts below it. Slurm calls these limits
	// MaxJobsPA, MaxSubmitPA and MaxTRESPA.
	// +optional
	AccountLimits *QOSLimits `json:"accountLimits,omitempty"`
	// JobLimits limits each job of this QOS.
	// +optional
	JobLimits *QOSJobLimits `json:"jobLimits,omitempty"`
}

// QOSLimits limits jobs of a QOS together.
type QOSLimits struct {
	// MaxRunningJobs is the maximum number of jobs that are admitted to their queues at the same time. An array is one
	// job.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRunningJobs *int32 `json:"maxRunningJobs,omitempty"`
	// MaxSubmittedJobs is the maximum number of jobs that have not ended. Unlike in Slurm, an array is one job.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxSubmittedJobs *int32 `json:"maxSubmittedJobs,omitempty"`
	// MaxResources is the maximum amount of resources that admitted jobs request together.
	// +optional
	MaxResources corev1.ResourceList `json:"maxResources,omitempty"`
}

// QOSJobLimits limits each job of a QOS.
type QOSJobLimits struct {
	// MaxResources is the maximum amount of resources that a job requests with all its pods, in an array with all pods
	// of an element. Slurm calls it MaxTRES.
	// +optional
	MaxResources corev1.ResourceList `json:"maxResources,omitempty"`
	// MaxRunTime is the longest time limit that a job may have. A job's time limit is the activeDeadlineSeconds of its
	// pods. Slurm calls it MaxWall.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	MaxRunTime *metav1.Duration `json:"maxRunTime,omitempty"`
}

// PermittedQOS names the QOS of an account or a user. Slurm calls them QOS and DefaultQOS of an association.
type PermittedQOS struct {
	// QOS lists the names of the permitted QOS. If it is empty, the list of the account or of its nearest ancestor with a
	// list applies. If there is none, all QOS are permitted.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	QOS []string `json:"qos,omitempty"`
	// DefaultQOS is the QOS of jobs that name none. If it is empty, the default of the account or of its nearest ancestor
	// with a default applies.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	DefaultQOS string `json:"defaultQOS,omitempty"`
}
