// Package podtemplate validates pod templates with Kubernetes' own defaulting and validation. Apart from the embedded
// control plane and the scheduler's adapter, it is the only package that links code of Kubernetes itself. Admission and
// the command line share it, so that they return the same errors.
//
//	In:   a pod template and its path
//	Out:  the errors that Kubernetes would return, each with its field
//
// # Concurrency
//
// Validate is safe for concurrent use.
package podtemplate

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1conversion "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/capabilities"
)

// allowPrivileged makes the validation accept privileged containers, because the policies of the cluster decide about
// them when the pods are created. It is called late, so that an API server in the same process can set its own value
// first.
var allowPrivileged = sync.OnceFunc(func() {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
})

// ValidateTemplate returns the errors that Kubernetes would report for the pods of the template at path. It does not
// change the template.
func ValidateTemplate(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	allowPrivileged()
	versioned := &corev1.PodTemplate{Template: *template.DeepCopy()}
	corev1conversion.SetObjectDefaults_PodTemplate(versioned)
	internal := &core.PodTemplateSpec{}
	if err := corev1conversion.Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec(&versioned.Template, internal, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return validation.ValidatePodTemplateSpec(internal, path, podutil.GetValidationOptionsFromPodTemplate(internal, nil))
}
