package admission

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1conversion "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/capabilities"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// allowPrivileged lets templates ask for privileged containers: whether they may is for the cluster's policies to say
// when the pods are made. It is set late, so that an API server in the same process has set its own before.
var allowPrivileged = sync.OnceFunc(func() {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
})

// validateTemplates asks Kubernetes' own validation, after its own defaults, whether the pods of a job could be made.
func validateTemplates(job *batchv1alpha1.Job) field.ErrorList {
	allowPrivileged()
	var errs field.ErrorList
	for i := range job.Spec.Tasks {
		path := field.NewPath("spec", "tasks").Index(i).Child("template")
		versioned := &corev1.PodTemplate{Template: *job.Spec.Tasks[i].Template.DeepCopy()}
		corev1conversion.SetObjectDefaults_PodTemplate(versioned)
		internal := &core.PodTemplateSpec{}
		if err := corev1conversion.Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec(&versioned.Template, internal, nil); err != nil {
			errs = append(errs, field.InternalError(path, err))
			continue
		}
		errs = append(errs, validation.ValidatePodTemplateSpec(internal, path, podutil.GetValidationOptionsFromPodTemplate(internal, nil))...)
	}
	return errs
}
