package apiserver

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// The functions below set the defaults of the schemas in deploy/crds. The real API server does not distinguish a number
// 0 that was sent from a missing number if the field is omitted from JSON when it is 0, and so the Go types need not
// distinguish them either.

func defaultJob(object client.Object) { defaultJobSpec(&object.(*batchv1alpha1.Job).Spec) }

func defaultJobTemplate(object client.Object) {
	defaultJobSpec(&object.(*flowv1alpha1.JobTemplate).Spec)
}

func defaultJobSpec(spec *batchv1alpha1.JobSpec) {
	spec.MaxRetry = cmp.Or(spec.MaxRetry, batchv1alpha1.DefaultMaxRetry)
	spec.Queue = cmp.Or(spec.Queue, "default")
	defaultJobTopology(spec.NetworkTopology)
	for i := range spec.Tasks {
		task := &spec.Tasks[i]
		task.MaxRetry = cmp.Or(task.MaxRetry, batchv1alpha1.DefaultMaxRetry)
		if task.PartitionPolicy != nil {
			defaultJobTopology(task.PartitionPolicy.NetworkTopology)
		}
		defaultPodTemplate(&task.Template)
	}
}

func defaultJobTopology(t *batchv1alpha1.NetworkTopologySpec) {
	if t != nil {
		t.Mode = cmp.Or(t.Mode, batchv1alpha1.HardNetworkTopologyMode)
	}
}

// defaultPodTemplate sets those defaults of a pod template in a custom resource that the project's jobs use.
func defaultPodTemplate(template *corev1.PodTemplateSpec) {
	for _, containers := range [][]corev1.Container{template.Spec.InitContainers, template.Spec.Containers} {
		for i := range containers {
			for j := range containers[i].Ports {
				port := &containers[i].Ports[j]
				port.Protocol = cmp.Or(port.Protocol, corev1.ProtocolTCP)
			}
		}
	}
}

func defaultCronJob(object client.Object) {
	spec := &object.(*batchv1alpha1.CronJob).Spec
	spec.ConcurrencyPolicy = cmp.Or(spec.ConcurrencyPolicy, batchv1alpha1.AllowConcurrent)
	setIfNil(&spec.FailedJobsHistoryLimit, 1)
	setIfNil(&spec.SuccessfulJobsHistoryLimit, 3)
	setIfNil(&spec.Suspend, false)
	defaultJobSpec(&spec.JobTemplate.Spec)
}

func setIfNil[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func defaultPodGroup(object client.Object) {
	spec := &object.(*schedulingv1beta1.PodGroup).Spec
	spec.Queue = cmp.Or(spec.Queue, "default")
	defaultGroupTopology(spec.NetworkTopology)
	for i := range spec.SubGroupPolicy {
		policy := &spec.SubGroupPolicy[i]
		setIfNil(&policy.MinSubGroups, 0)
		setIfNil(&policy.SubGroupSize, 1)
		defaultGroupTopology(policy.NetworkTopology)
	}
}

func defaultGroupTopology(t *schedulingv1beta1.NetworkTopologySpec) {
	if t != nil {
		t.Mode = cmp.Or(t.Mode, schedulingv1beta1.HardNetworkTopologyMode)
	}
}

func defaultQueue(object client.Object) {
	spec := &object.(*schedulingv1beta1.Queue).Spec
	spec.DequeueStrategy = cmp.Or(spec.DequeueStrategy, "traverse")
	spec.Weight = cmp.Or(spec.Weight, 1)
}

var specPath = field.NewPath("spec")

// validateJob checks the rules of the schema that clients depend on.
func validateJob(object, old client.Object) (errs fieldErrors) {
	tasks := object.(*batchv1alpha1.Job).Spec.Tasks
	if len(tasks) == 0 {
		errs = append(errs, field.Required(specPath.Child("tasks"), "a job needs at least one task"))
	}
	if old, ok := old.(*batchv1alpha1.Job); ok && len(tasks) > 0 && len(old.Spec.Tasks) != len(tasks) {
		errs = append(errs, field.Invalid(specPath, "object", "tasks cannot be added or removed"))
	}
	return errs
}

func validatePlan(object, old client.Object) (errs fieldErrors) {
	if old, ok := old.(*insightv1alpha1.Plan); ok && !equality.Semantic.DeepEqual(old.Spec, object.(*insightv1alpha1.Plan).Spec) {
		errs = append(errs, field.Invalid(specPath, "object", "the spec of a plan cannot be changed"))
	}
	return errs
}
