package check

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// judge holds the checks of one kind. The objects are encoded as JSON.
type judge struct {
	create func(object []byte, around *Around) Verdict
	update func(old, object []byte, around *Around) Verdict
	remove func(name string, around *Around) Verdict // nil if objects of the kind may always be deleted
	// unknownFields returns a text about each unknown field.
	unknownFields func(object []byte) []string
}

// judges maps kinds to their checks.
var judges = map[schema.GroupVersionKind]judge{
	batchv1alpha1.GroupVersion.WithKind("Job"):          newJudge(newJob, changedJob),
	schedulingv1beta1.GroupVersion.WithKind("Queue"):    newJudge(newQueue, changedQueue).withDeletionCheck(removedQueue),
	schedulingv1beta1.GroupVersion.WithKind("PodGroup"): newJudge(newPodGroup, changedPodGroup),
	batchv1alpha1.GroupVersion.WithKind("CronJob"):      newJudge(newCronJob, changedCronJob),
	flowv1alpha1.GroupVersion.WithKind("JobFlow"):       newJudge(newJobFlow, changedJobFlow),
	flowv1alpha1.GroupVersion.WithKind("JobTemplate"):   newJudge(newJobTemplate, changedJobTemplate),
	topologyv1alpha1.GroupVersion.WithKind("HyperNode"): newJudge(newHyperNode, changed(newHyperNode)),
	corev1.SchemeGroupVersion.WithKind("Pod"):           newJudge(newPod, nil),
	accountv1alpha1.GroupVersion.WithKind("Account"):    newJudge(newAccount, changedAccount).withDeletionCheck(removedAccount),
	accountv1alpha1.GroupVersion.WithKind("QOS"):        newJudge(newQOS, changed(newQOS)),
}

// newJudge returns a judge with typed checks. If update is nil, updates are not checked.
func newJudge[T any](create func(*T, *Around) Verdict, update func(old, object *T, around *Around) Verdict) judge {
	return judge{
		create: func(raw []byte, around *Around) Verdict {
			object, errs := Decode[T](raw)
			if len(errs) > 0 {
				return Verdict{Errors: errs}
			}
			verdict := create(object, around)
			if meta, ok := any(object).(metav1.Object); ok {
				verdict.Errors = append(validateName(meta), verdict.Errors...)
				verdict.Warnings = append(verdict.Warnings, unknownAnnotationWarnings(meta.GetAnnotations(), field.NewPath("metadata", "annotations"))...)
			}
			return verdict
		},
		update: func(rawOld, raw []byte, around *Around) Verdict {
			object, errs := Decode[T](raw)
			if len(errs) > 0 {
				return Verdict{Errors: errs}
			}
			old, errs := Decode[T](rawOld)
			if update == nil || len(errs) > 0 {
				return Verdict{} // an object that cannot be decoded may be repaired by any update
			}
			return update(old, object, around)
		},
		unknownFields: describeUnknownFields[T],
	}
}

// withDeletionCheck returns the judge with a check of deletions.
func (j judge) withDeletionCheck(remove func(name string, around *Around) Verdict) judge {
	j.remove = remove
	return j
}

// unknownAnnotationWarnings returns warnings about unknown annotations that have the project's prefix.
func unknownAnnotationWarnings(annotations map[string]string, at *field.Path) []string {
	var warnings []string
	for _, key := range keys.Unknown(annotations) {
		text := at.Key(key).String() + ": unknown annotation, which vc ignores"
		if like := keys.Like(key); len(like) > 0 {
			text += "; similar annotations: " + strings.Join(like, ", ")
		}
		warnings = append(warnings, text)
	}
	return warnings
}

// validateName checks the name in the same way as the API server does before it calls webhooks.
func validateName(object metav1.Object) field.ErrorList {
	path := field.NewPath("metadata", "name")
	name := object.GetName()
	if name == "" {
		if object.GetGenerateName() != "" {
			return nil
		}
		return field.ErrorList{field.Required(path, "name or generateName is required")}
	}
	var errs field.ErrorList
	for _, text := range validation.IsDNS1123Subdomain(name) {
		errs = append(errs, field.Invalid(path, name, text))
	}
	return errs
}

// changed returns a function that checks an updated object in the same way as a new one.
func changed[T any](create func(*T, *Around) Verdict) func(old, object *T, around *Around) Verdict {
	return func(_, object *T, around *Around) Verdict { return create(object, around) }
}

func newJob(job *batchv1alpha1.Job, around *Around) Verdict {
	// The defaulting webhook may have failed, in which case requests are processed without it.
	batchv1alpha1.DefaultJob(job, around.schedulerNames()[0])
	errs := batchv1alpha1.ValidateJob(job, around.Queues)
	if len(errs) == 0 {
		errs = around.replicas(job, field.NewPath("spec"))
	}
	if len(errs) == 0 {
		errs = around.queueLimits(job, field.NewPath("spec"), around.IsDefaulted)
	}
	if len(errs) == 0 {
		errs = around.accountRules(job, nil, around.IsDefaulted)
	}
	errs = append(errs, batchv1alpha1.ValidateDependency(job, around.Jobs)...)
	if len(errs) == 0 {
		errs = around.templates(job.Spec.Tasks, field.NewPath("spec", "tasks"))
	}
	return Verdict{Errors: errs, Warnings: append(batchv1alpha1.JobWarnings(job), batchv1alpha1.DependencyWarnings(job, around.Jobs)...)}
}

func changedJob(old, job *batchv1alpha1.Job, around *Around) Verdict {
	batchv1alpha1.DefaultJob(job, around.schedulerNames()[0])
	errs := batchv1alpha1.ValidateJobUpdate(old, job)
	if len(errs) == 0 && batchv1alpha1.MoreReplicas(old, job) {
		errs = around.replicas(job, field.NewPath("spec"))
	}
	if len(errs) == 0 && around.Queues != nil {
		errs = batchv1alpha1.ValidateQueueLimitsUpdate(old, job, around.Queues, around.IsDefaulted)
	}
	if len(errs) == 0 {
		errs = around.accountRulesUpdate(old, job, around.IsDefaulted)
	}
	if old.Annotations[keys.Dependency] != job.Annotations[keys.Dependency] {
		errs = append(errs, batchv1alpha1.ValidateDependency(job, around.Jobs)...)
	}
	return Verdict{Errors: errs}
}

// newCronJob checks a CronJob and its jobs. Errors in the jobs would otherwise appear only at their scheduled times.
func newCronJob(cron *batchv1alpha1.CronJob, around *Around) Verdict {
	verdict := around.jobsOf(cron)
	verdict.Errors = append(batchv1alpha1.ValidateCronJob(cron), verdict.Errors...)
	return verdict
}

// jobsOf checks the jobs of a CronJob.
func (a *Around) jobsOf(cron *batchv1alpha1.CronJob) Verdict {
	job := cron.JobOf()
	job.Name += longestTime
	template := field.NewPath("spec", "jobTemplate")
	verdict := a.embedded(job, template, a.Queues)
	if len(verdict.Errors) == 0 {
		verdict.Errors = a.accountRules(a.withDefaultAccount(job), template, false)
	}
	verdict.Warnings = append(verdict.Warnings, unknownAnnotationWarnings(job.Annotations, template.Child("metadata", "annotations"))...)
	return verdict
}

// longestTime stands for the suffix in the names of a CronJob's jobs. The suffix is the time in minutes since 1970,
// which has eight digits until 2160.
const longestTime = "-99999999"

// changedCronJob checks an updated CronJob. It skips unchanged parts, so that a CronJob can still be suspended if its
// queue is closed or its schedule is accepted only by older versions.
func changedCronJob(old, cron *batchv1alpha1.CronJob, around *Around) Verdict {
	verdict := Verdict{Errors: batchv1alpha1.ValidateCronJobUpdate(old, cron)}
	if equality.Semantic.DeepEqual(old.Spec.JobTemplate, cron.Spec.JobTemplate) {
		return verdict
	}
	jobs := around.jobsOf(cron)
	verdict.Errors, verdict.Warnings = append(verdict.Errors, jobs.Errors...), jobs.Warnings
	return verdict
}

// changedJobTemplate checks an updated template. It skips an unchanged spec, so that newer rules do not apply to it.
func changedJobTemplate(old, template *flowv1alpha1.JobTemplate, around *Around) Verdict {
	if equality.Semantic.DeepEqual(old.Spec, template.Spec) {
		return Verdict{}
	}
	return newJobTemplate(template, around)
}

// newJobTemplate checks the jobs of a template. It does not require that their queue exists, because the queue may be
// created after the template.
func newJobTemplate(template *flowv1alpha1.JobTemplate, around *Around) Verdict {
	return around.embedded(&batchv1alpha1.Job{Spec: *template.Spec.DeepCopy()}, nil, nil)
}

// embedded checks a job that is embedded in another object. at is the path of the job in that object.
func (a *Around) embedded(job *batchv1alpha1.Job, at *field.Path, queues schedulingv1beta1.QueueLookup) Verdict {
	batchv1alpha1.DefaultJob(job, a.schedulerNames()[0])
	errs := batchv1alpha1.ValidateEmbeddedJob(job, at, queues)
	if len(errs) == 0 {
		errs = a.replicas(job, at.Child("spec"))
	}
	if len(errs) == 0 {
		errs = a.queueLimits(job, at.Child("spec"), false)
	}
	if len(errs) == 0 {
		errs = a.templates(job.Spec.Tasks, at.Child("spec", "tasks"))
	}
	return Verdict{Errors: errs, Warnings: batchv1alpha1.JobWarnings(job)}
}

// replicas checks that a job does not exceed the maximum number of pods in the installation. spec is the path of the
// job's spec.
func (a *Around) replicas(job *batchv1alpha1.Job, spec *field.Path) field.ErrorList {
	if a.MaxReplicas == 0 {
		return nil
	}
	return batchv1alpha1.ValidateReplicas(job, spec, a.MaxReplicas)
}

// queueLimits checks that a job does not exceed the limits of its queue. spec is the path of the job's spec. A missing
// time limit is an error only if the job's defaults are set. A queue that does not exist has no limits.
func (a *Around) queueLimits(job *batchv1alpha1.Job, spec *field.Path, isDefaulted bool) field.ErrorList {
	if a.Queues == nil {
		return nil
	}
	return batchv1alpha1.ValidateQueueLimits(job, spec, a.Queues, isDefaulted)
}

// templates runs Kubernetes' validation of the pod templates of tasks at path.
func (a *Around) templates(tasks []batchv1alpha1.TaskSpec, path *field.Path) field.ErrorList {
	if a.Template == nil {
		return nil
	}
	var errs field.ErrorList
	for i := range tasks {
		errs = append(errs, a.Template(&tasks[i].Template, path.Index(i).Child("template"))...)
	}
	return errs
}

func newQueue(queue *schedulingv1beta1.Queue, around *Around) Verdict {
	schedulingv1beta1.DefaultQueue(queue)
	return Verdict{Errors: around.QueueRules.Validate(queue, around.Queues), Warnings: schedulingv1beta1.QueueWarnings(queue, around.Queues)}
}

func changedQueue(old, queue *schedulingv1beta1.Queue, around *Around) Verdict {
	schedulingv1beta1.DefaultQueue(queue)
	verdict := Verdict{Errors: around.QueueRules.ValidateUpdate(old, queue, around.Queues)}
	if old.ParentName() != queue.ParentName() {
		verdict.Warnings = schedulingv1beta1.QueueWarnings(queue, around.Queues)
	}
	return verdict
}

// removedQueue checks the deletion of a queue. If the installation permits the deletion of queues with running pods,
// removedQueue only warns about pods that are still running in the queue.
func removedQueue(name string, around *Around) Verdict {
	verdict := Verdict{Errors: around.QueueRules.ValidateDelete(name, around.Queues)}
	if around.Queues == nil || len(verdict.Errors) > 0 {
		return verdict
	}
	if queue, ok := around.Queues.Queue(name); ok {
		if pods := queue.Status.Allocated[corev1.ResourcePods]; pods.Sign() > 0 {
			verdict.Warnings = append(verdict.Warnings, fmt.Sprintf(
				"queue %s has allocated Pods: %s; these pods continue to run, but new pods of their jobs will not be scheduled", name, pods.String()))
		}
	}
	return verdict
}

func newPodGroup(group *schedulingv1beta1.PodGroup, around *Around) Verdict {
	if around.NamespaceQueue != nil {
		schedulingv1beta1.DefaultPodGroup(group, around.NamespaceQueue(group.Namespace))
	}
	errs := schedulingv1beta1.ValidatePodGroup(group, around.Queues)
	return Verdict{Errors: append(errs, around.groupAccountRules(group)...)}
}

// changedPodGroup checks a PodGroup that moves to another queue in the same way as a new one. Other changes are not checked,
// so that the scheduler can write the status of an old PodGroup.
func changedPodGroup(old, group *schedulingv1beta1.PodGroup, around *Around) Verdict {
	group.Spec.Queue = cmp.Or(group.Spec.Queue, keys.DefaultQueue)
	if cmp.Or(old.Spec.Queue, keys.DefaultQueue) == group.Spec.Queue {
		return Verdict{}
	}
	return newPodGroup(group, around)
}

func newHyperNode(node *topologyv1alpha1.HyperNode, _ *Around) Verdict {
	return Verdict{Errors: topologyv1alpha1.ValidateHyperNode(node)}
}

// newPod checks the annotations of a pod that has one of the project's schedulers. Everything else is checked by
// Kubernetes.
func newPod(pod *corev1.Pod, around *Around) Verdict {
	if !around.ours(pod.Spec.SchedulerName) {
		return Verdict{}
	}
	return Verdict{Errors: schedulingv1beta1.ValidateDisruptionBudget(pod.Annotations, field.NewPath("metadata", "annotations"))}
}
