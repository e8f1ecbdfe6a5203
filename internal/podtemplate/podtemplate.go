// Package podtemplate asks Kubernetes' own validation, after Kubernetes' own defaults, whether the pods of a template
// could be made. It is the one place outside the embedded control plane and the scheduler's adapter that carries
// Kubernetes itself; admission and the command line share it, so that both say the same.
//
//	In:   a pod template, and where it stands
//	Out:  what Kubernetes would refuse, each with its field
//
// # Concurrency
//
// Validate may be called concurrently.
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

// allowPrivileged lets templates ask for privileged containers: whether they may is for the cluster's policies to say
// when the pods are made. It is set late, so that an API server in the same process has set its own before.
var allowPrivileged = sync.OnceFunc(func() {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
})

// Validate says what Kubernetes would refuse in the pods of template, which stands at path. The template is not changed.
func Validate(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	allowPrivileged()
	versioned := &corev1.PodTemplate{Template: *template.DeepCopy()}
	corev1conversion.SetObjectDefaults_PodTemplate(versioned)
	internal := &core.PodTemplateSpec{}
	if err := corev1conversion.Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec(&versioned.Template, internal, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return validation.ValidatePodTemplateSpec(internal, path, podutil.GetValidationOptionsFromPodTemplate(internal, nil))
}
