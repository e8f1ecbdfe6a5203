package make

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
)

// QOSBuilder builds a QOS.
type QOSBuilder struct{ q accountv1alpha1.QOS }

// QOS starts a QOS without limits.
func QOS(name string) *QOSBuilder {
	b := &QOSBuilder{}
	b.q.Name = name
	b.q.UID = types.UID("qos-" + name)
	b.q.CreationTimestamp = metav1.NewTime(Epoch)
	return b
}

// PriorityClass sets the priority class of the jobs.
func (b *QOSBuilder) PriorityClass(name string) *QOSBuilder {
	b.q.Spec.PriorityClassName = name
	return b
}

// QOSJobs is the group of jobs to which a limit of a QOS applies.
type QOSJobs int

// The groups of jobs: all jobs of the QOS together, those of each user, and those of each account.
const (
	AllJobs QOSJobs = iota
	JobsOfUser
	JobsOfAccount
)

// MaxRunningJobs limits the number of running jobs.
func (b *QOSBuilder) MaxRunningJobs(of QOSJobs, n int32) *QOSBuilder {
	b.limits(of).MaxRunningJobs = &n
	return b
}

// MaxSubmittedJobs limits the number of jobs that have not ended.
func (b *QOSBuilder) MaxSubmittedJobs(of QOSJobs, n int32) *QOSBuilder {
	b.limits(of).MaxSubmittedJobs = &n
	return b
}

// MaxResource limits the amount of a resource that jobs request together.
func (b *QOSBuilder) MaxResource(of QOSJobs, name, q string) *QOSBuilder {
	setAmount(&b.limits(of).MaxResources, name, q)
	return b
}

// MaxJobResource limits the amount of a resource that a job requests.
func (b *QOSBuilder) MaxJobResource(name, q string) *QOSBuilder {
	setAmount(&b.jobLimits().MaxResources, name, q)
	return b
}

// MaxRunTime limits the time limit of jobs.
func (b *QOSBuilder) MaxRunTime(d time.Duration) *QOSBuilder {
	b.jobLimits().MaxRunTime = &metav1.Duration{Duration: d}
	return b
}

func (b *QOSBuilder) limits(of QOSJobs) *accountv1alpha1.QOSLimits {
	limits := &b.q.Spec.Limits
	switch of {
	case JobsOfUser:
		limits = &b.q.Spec.UserLimits
	case JobsOfAccount:
		limits = &b.q.Spec.AccountLimits
	}
	if *limits == nil {
		*limits = &accountv1alpha1.QOSLimits{}
	}
	return *limits
}

func (b *QOSBuilder) jobLimits() *accountv1alpha1.QOSJobLimits {
	if b.q.Spec.JobLimits == nil {
		b.q.Spec.JobLimits = &accountv1alpha1.QOSJobLimits{}
	}
	return b.q.Spec.JobLimits
}

// Obj returns the QOS.
func (b *QOSBuilder) Obj() *accountv1alpha1.QOS { return &b.q }
