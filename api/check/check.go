package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Around holds the surroundings of an object that its validation depends on.
type Around struct {
	// SchedulerNames lists the schedulers whose pods are checked; the first is the default of jobs. Empty means
	// volcano.
	SchedulerNames []string
	// Queues are the existing queues; nil skips checks against queues.
	Queues schedulingv1beta1.QueueLookup
	// QueueRules are the optional rules for queues of an installation.
	QueueRules schedulingv1beta1.QueueRules
	// MaxReplicas is the maximum number of pods of a job in an installation; 0 means batchv1alpha1.MaxReplicas.
	MaxReplicas int64
	// Jobs are the existing jobs; nil skips checks against jobs that others wait for.
	Jobs batchv1alpha1.JobLookup
	// Template runs Kubernetes' own validation of a pod template at a path, after all other checks have passed. If it
	// is nil, only the checks of package api apply.
	Template func(*corev1.PodTemplateSpec, *field.Path) field.ErrorList
	// JobTemplate returns the template of a flow's step, or nil if the template does not exist yet; then only the patch
	// of the step is checked. isKnown is false if templates are not readable. May be nil.
	JobTemplate func(namespace, name string) (template *flowv1alpha1.JobTemplate, isKnown bool)
	// NamespaceQueue returns the queue in the annotation of a namespace, or "". May be nil.
	NamespaceQueue func(namespace string) string
}

func (a *Around) schedulerNames() []string {
	if len(a.SchedulerNames) == 0 {
		return []string{keys.DefaultSchedulerName}
	}
	return a.SchedulerNames
}

// ours reports whether pods of a scheduler are checked.
func (a *Around) ours(schedulerName string) bool {
	return slices.Contains(a.schedulerNames(), schedulerName)
}

// Verdict is the result of a check.
type Verdict struct {
	// Errors are the reasons to reject the object, each with its field.
	Errors field.ErrorList
	// Warnings are about settings that are valid but probably not intended.
	Warnings []string
}

// Judges reports whether the package checks objects of a kind.
func Judges(kind schema.GroupVersionKind) bool {
	_, ok := judges[kind]
	return ok
}

// Kinds returns the kinds that the package checks, sorted by name.
func Kinds() []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, len(judges))
	for kind := range judges {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int {
		return slices.Compare([]string{a.Group, a.Version, a.Kind}, []string{b.Group, b.Version, b.Kind})
	})
	return kinds
}

// Create checks a new object of a kind. For other kinds it returns an empty Verdict.
func Create(kind schema.GroupVersionKind, object []byte, around *Around) Verdict {
	judge, ok := judges[kind]
	if !ok {
		return Verdict{}
	}
	return judge.create(object, around)
}

// Update checks an updated object of a kind. For other kinds it returns an empty Verdict.
func Update(kind schema.GroupVersionKind, old, object []byte, around *Around) Verdict {
	judge, ok := judges[kind]
	if !ok {
		return Verdict{}
	}
	return judge.update(old, object, around)
}

// Delete checks whether an object may be deleted. For kinds without such a rule it returns an empty Verdict.
func Delete(kind schema.GroupVersionKind, name string, around *Around) Verdict {
	judge, ok := judges[kind]
	if !ok || judge.remove == nil {
		return Verdict{}
	}
	return judge.remove(name, around)
}
