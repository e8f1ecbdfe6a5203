package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Account is a group of users who share resources, for example a project or a department. Accounts form a tree. A job
// names its account with the label vc-batch.dev/account.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=accounts,scope=Cluster,shortName=acct
// +kubebuilder:printcolumn:name="PARENT",type=string,JSONPath=`.spec.parent`
// +kubebuilder:printcolumn:name="SHARES",type=integer,JSONPath=`.spec.shares`
// +kubebuilder:printcolumn:name="DESCRIPTION",type=string,JSONPath=`.spec.description`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name must have at most 63 characters, because a label of jobs holds it"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(self.spec.parent) || self.spec.parent != self.metadata.name",fieldPath=".spec.parent",message="an account cannot be its own parent"
type Account struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec AccountSpec `json:"spec,omitempty"`
}

// AccountList is a list of Accounts.
//
// +kubebuilder:object:root=true
type AccountList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Account `json:"items"`
}

// AccountSpec describes the users of an account, its place in the tree, and its limits.
type AccountSpec struct {
	// Parent is the name of the parent account. An account without a parent is below the root of the tree.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Parent string `json:"parent,omitempty"`
	// Description is a text for people.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Description string `json:"description,omitempty"`
	// Organization is the name of the organization to which the account belongs.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Organization string `json:"organization,omitempty"`
	// Shares is the weight of this account among its siblings. The siblings of an account are the accounts and the users
	// directly below the same parent. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Shares *int32 `json:"shares,omitempty"`
	// Limits limits all jobs of this account and of the accounts below it together.
	// +optional
	Limits *AccountLimits `json:"limits,omitempty"`
	// UserLimits limits each user of this account. It also applies to the accounts below this one, unless they have a
	// limit of their own.
	// +optional
	UserLimits *UserLimits `json:"userLimits,omitempty"`
	// Users lists the users who may submit jobs for this account.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=2000
	Users []AccountUser `json:"users,omitempty"`
	// Coordinators lists the names of the users who may see the jobs of this account and of the accounts below it.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Coordinators []string `json:"coordinators,omitempty"`
	// Queues lists the queues to which jobs of this account may be submitted. If it is empty, all queues are permitted.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Queues []string `json:"queues,omitempty"`
	// Namespaces lists the namespaces in which jobs of this account may be created. If it is empty, all namespaces are
	// permitted.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Namespaces []string `json:"namespaces,omitempty"`

	// PermittedQOS applies to all users of this account, and to the accounts below it.
	PermittedQOS `json:",inline"`
}

// AccountUser is a user of an account. Slurm calls this an association.
type AccountUser struct {
	// Name is the name of the user, as the API server knows it.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// Shares is the weight of this user among the other users and the accounts directly below the same account. Defaults
	// to 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Shares *int32 `json:"shares,omitempty"`
	// Default determines whether jobs of this user that name no account get this account.
	// +optional
	Default bool `json:"default,omitempty"`
	// Limits limits the jobs of this user in this account. A limit that is missing here is taken from the userLimits of
	// the account or of its nearest ancestor with this limit.
	// +optional
	Limits *UserLimits `json:"limits,omitempty"`

	// PermittedQOS applies to this user in this account.
	PermittedQOS `json:",inline"`
}

// AccountLimits limits the jobs of an account and of the accounts below it together.
type AccountLimits struct {
	// MaxRunningJobs is the maximum number of jobs that are admitted to their queues at the same time. Slurm calls it
	// GrpJobs. An array is one job.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRunningJobs *int32 `json:"maxRunningJobs,omitempty"`
	// MaxSubmittedJobs is the maximum number of jobs that have not ended. Slurm calls it GrpSubmitJobs. Unlike in Slurm,
	// an array is one job.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxSubmittedJobs *int32 `json:"maxSubmittedJobs,omitempty"`
	// MaxResources is the maximum amount of resources that admitted jobs request together. Slurm calls it GrpTRES.
	// +optional
	MaxResources corev1.ResourceList `json:"maxResources,omitempty"`
	// Budget limits the resources that jobs use over time. A job reserves its whole time limit from the budget when it is
	// admitted, so no running job is stopped for a budget. Jobs need a time limit, which is the activeDeadlineSeconds of
	// their pods.
	// +optional
	Budget *Budget `json:"budget,omitempty"`
}

// Budget is an amount of resources that jobs may use in a period.
type Budget struct {
	// ResourceMinutes is the amount of each resource, multiplied by minutes, that jobs may use in a period. For example,
	// cpu: 600 permits 10 hours of 1 CPU, or 1 hour of 10 CPUs. Slurm calls it GrpTRESMins.
	// +optional
	ResourceMinutes corev1.ResourceList `json:"resourceMinutes,omitempty"`
	// Period is the calendar period, in UTC, at whose start the budget is available again: Month, Quarter, Year or
	// None. Defaults to None: the budget counts all usage since the scheduler first read it, or from the time in field
	// since.
	// +optional
	// +kubebuilder:validation:Enum=None;Month;Quarter;Year
	Period BudgetPeriod `json:"period,omitempty"`
	// Since is a time from which usage counts. Once it has passed, earlier usage no longer counts. Set it to the current
	// time to make the whole budget available again.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}

// BudgetPeriod is the period of a budget.
type BudgetPeriod string

// Values of BudgetPeriod. Periods start at midnight UTC on the first day of a month.
const (
	BudgetPeriodNone    BudgetPeriod = "None"
	BudgetPeriodMonth   BudgetPeriod = "Month"
	BudgetPeriodQuarter BudgetPeriod = "Quarter"
	BudgetPeriodYear    BudgetPeriod = "Year"
)

// UserLimits limits the jobs of a user in an account.
type UserLimits struct {
	// MaxRunningJobs is the maximum number of jobs that are admitted to their queues at the same time. Slurm calls it
	// MaxJobs. An array is one job.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxRunningJobs *int32 `json:"maxRunningJobs,omitempty"`
	// MaxSubmittedJobs is the maximum number of jobs that have not ended. Slurm calls it MaxSubmitJobs. Unlike in Slurm,
	// an array is one job.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxSubmittedJobs *int32 `json:"maxSubmittedJobs,omitempty"`
	// MaxResources is the maximum amount of resources that the user's admitted jobs request together. Slurm calls it
	// MaxTRESPerUser.
	// +optional
	MaxResources corev1.ResourceList `json:"maxResources,omitempty"`
	// MaxResourcesPerJob is the maximum amount of resources that a job requests with all its pods, in an array with all
	// pods of an element. Slurm calls it MaxTRESPerJob.
	// +optional
	MaxResourcesPerJob corev1.ResourceList `json:"maxResourcesPerJob,omitempty"`
	// MaxRunTime is the longest time limit that a job may have. A job's time limit is the activeDeadlineSeconds of
	// its pods. Slurm calls it MaxWall.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	MaxRunTime *metav1.Duration `json:"maxRunTime,omitempty"`
}
