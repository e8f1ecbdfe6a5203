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

// Around is what an object is judged by besides itself.
type Around struct {
	// SchedulerNames are the schedulers whose pods are ours; the first is the default of jobs. Empty means volcano.
	SchedulerNames []string
	// Queues are those that there are; nil: nothing is said of queues.
	Queues schedulingv1beta1.QueueLookup
	// QueueRules are the rules of queues that an installation may choose.
	QueueRules schedulingv1beta1.QueueRules
	// MaxReplicas is how many pods an installation allows the tasks of a job to have together; 0: batchv1alpha1.MaxReplicas.
	MaxReplicas int64
	// Jobs are those that there are; nil: nothing is said of jobs that others wait for.
	Jobs batchv1alpha1.JobLookup
	// Template is Kubernetes' own validation of a pod template at a path; it is asked when nothing else is wrong.
	// Nil: only what package api can see of a template is judged.
	Template func(*corev1.PodTemplateSpec, *field.Path) field.ErrorList
	// JobTemplate gives the template of a namespace that the step of a flow is made from; nil when there is none yet: of the
	// step's job only the patch is judged then. isKnown is false when templates cannot be read. May be nil.
	JobTemplate func(namespace, name string) (template *flowv1alpha1.JobTemplate, isKnown bool)
	// NamespaceQueue gives the queue that the namespace of an object names, or nothing. May be nil.
	NamespaceQueue func(namespace string) string
}

func (a *Around) schedulerNames() []string {
	if len(a.SchedulerNames) == 0 {
		return []string{keys.DefaultSchedulerName}
	}
	return a.SchedulerNames
}

// ours says whether pods of that scheduler are ours.
func (a *Around) ours(schedulerName string) bool {
	return slices.Contains(a.schedulerNames(), schedulerName)
}

// Verdict is what is to be said of an object.
type Verdict struct {
	// Errors refuse it; each names its field.
	Errors field.ErrorList
	// Warnings are of what is allowed and most likely not meant.
	Warnings []string
}

// Judges says whether objects of a kind are judged here.
func Judges(kind schema.GroupVersionKind) bool {
	_, ok := judges[kind]
	return ok
}

// Kinds lists the kinds that are judged, sorted by their names.
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

// Create judges a new object of a kind; of kinds that are not ours nothing is said.
func Create(kind schema.GroupVersionKind, object []byte, around *Around) Verdict {
	judge, ok := judges[kind]
	if !ok {
		return Verdict{}
	}
	return judge.create(object, around)
}

// Update judges a changed object of a kind; of kinds that are not ours nothing is said.
func Update(kind schema.GroupVersionKind, old, object []byte, around *Around) Verdict {
	judge, ok := judges[kind]
	if !ok {
		return Verdict{}
	}
	return judge.update(old, object, around)
}

// Delete judges whether the object of a kind and name may go; of kinds that may always go nothing is said.
func Delete(kind schema.GroupVersionKind, name string, around *Around) Verdict {
	judge, ok := judges[kind]
	if !ok || judge.remove == nil {
		return Verdict{}
	}
	return judge.remove(name, around)
}
