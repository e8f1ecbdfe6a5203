package check

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Around holds the context on which the validation of an object depends.
type Around struct {
	// SchedulerNames lists the schedulers whose pods are checked. The first one is the default for jobs. If the list
	// is empty, the scheduler is "volcano".
	SchedulerNames []string
	// Queues provides the existing queues. If it is nil, checks that involve queues are skipped.
	Queues schedulingv1beta1.QueueLookup
	// QueueRules holds the optional rules for queues that are configured in the installation.
	QueueRules schedulingv1beta1.QueueRules
	// MaxReplicas is the maximum number of pods of a job in the installation; 0 means batchv1alpha1.MaxReplicas.
	MaxReplicas int64
	// Jobs provides the existing jobs. If it is nil, checks that involve the jobs that a job depends on are skipped.
	Jobs batchv1alpha1.JobLookup
	// Accounts provides the existing accounts. If it is nil, checks that involve accounts are skipped.
	Accounts AccountLookup
	// RequiresAccount is true if the installation rejects jobs and PodGroups without an account.
	RequiresAccount bool
	// Template runs Kubernetes' own validation of a pod template at a path. It is called after all other checks have
	// passed. If it is nil, only the checks in package api apply.
	Template func(*corev1.PodTemplateSpec, *field.Path) field.ErrorList
	// JobTemplate returns the template of a step of a flow. It returns nil if the template does not exist yet; in
	// this case, only the patch of the step is checked. isKnown is false if templates cannot be read. JobTemplate may
	// be nil.
	JobTemplate func(namespace, name string) (template *flowv1alpha1.JobTemplate, isKnown bool)
	// IsDefaulted is true if the defaulting webhook has processed the object. Otherwise, a job without a time limit is not
	// rejected, because the webhook will set the default time limit of the job's queue.
	IsDefaulted bool
	// NamespaceQueue returns the queue specified by a namespace's annotation, or "". It may be nil.
	NamespaceQueue func(namespace string) string
}

func (a *Around) schedulerNames() []string {
	if len(a.SchedulerNames) == 0 {
		return []string{keys.DefaultSchedulerName}
	}
	return a.SchedulerNames
}

// ours reports whether the pods of a scheduler are checked.
func (a *Around) ours(schedulerName string) bool {
	return slices.Contains(a.schedulerNames(), schedulerName)
}

// Verdict is the result of a check.
type Verdict struct {
	// Errors lists the reasons for rejecting the object, each with the path of the field.
	Errors field.ErrorList
	// Warnings lists settings that are valid but probably not intended.
	Warnings []string
}

// Judges reports whether the package checks objects of the kind.
func Judges(kind schema.GroupVersionKind) bool {
	_, ok := judges[kind]
	return ok
}

// Kinds returns the kinds that the package checks, sorted by name.
func Kinds() []schema.GroupVersionKind {
	return slices.SortedFunc(maps.Keys(judges), func(a, b schema.GroupVersionKind) int {
		return slices.Compare([]string{a.Group, a.Version, a.Kind}, []string{b.Group, b.Version, b.Kind})
	})
}

// Create checks a new object. For kinds that are not checked, it returns an empty Verdict.
func Create(kind schema.GroupVersionKind, object []byte, around *Around) Verdict {
	judge, ok := judges[kind]
	if !ok {
		return Verdict{}
	}
	return judge.create(object, around)
}

// Update checks an updated object. For kinds that are not checked, it returns an empty Verdict.
func Update(kind schema.GroupVersionKind, old, object []byte, around *Around) Verdict {
	judge, ok := judges[kind]
	if !ok {
		return Verdict{}
	}
	return judge.update(old, object, around)
}

// Delete checks whether an object may be deleted. For kinds that have no rules for deletion, it returns an empty
// Verdict.
func Delete(kind schema.GroupVersionKind, name string, around *Around) Verdict {
	judge, ok := judges[kind]
	if !ok || judge.remove == nil {
		return Verdict{}
	}
	return judge.remove(name, around)
}
