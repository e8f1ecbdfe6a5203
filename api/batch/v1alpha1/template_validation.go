package v1alpha1

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// validateTemplate checks a pod template for the most frequent errors: names, restart policy, resources and ports.
// Clients cannot use Kubernetes' own validation, which is not available as a library; admission runs it in addition.
func validateTemplate(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	pod, at := &template.Spec, path.Child("spec")
	var errs field.ErrorList
	errs = append(errs, metav1validation.ValidateLabels(template.Labels, path.Child("metadata", "labels"))...)
	if len(pod.Containers) == 0 {
		errs = append(errs, field.Required(at.Child("containers"), "a pod must have at least one container"))
	}
	names := map[string]bool{}
	errs = append(errs, validateContainers(pod.InitContainers, at.Child("initContainers"), names)...)
	errs = append(errs, validateContainers(pod.Containers, at.Child("containers"), names)...)
	switch pod.RestartPolicy {
	case "", corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
	default:
		errs = append(errs, field.NotSupported(at.Child("restartPolicy"), pod.RestartPolicy,
			[]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}))
	}
	if seconds := pod.ActiveDeadlineSeconds; seconds != nil && *seconds < 1 {
		errs = append(errs, field.Invalid(at.Child("activeDeadlineSeconds"), *seconds, "must be greater than or equal to 1"))
	}
	if seconds := pod.TerminationGracePeriodSeconds; seconds != nil && *seconds < 0 {
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), *seconds, "must not be negative"))
	}
	return append(errs, schedulingv1beta1.ValidateDisruptionBudget(template.Annotations, path.Child("metadata", "annotations"))...)
}

// validateContainers checks a list of containers; names holds the container names used in the pod.
func validateContainers(containers []corev1.Container, path *field.Path, names map[string]bool) field.ErrorList {
	var errs field.ErrorList
	for i := range containers {
		container, at := &containers[i], path.Index(i)
		if container.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), "a container must have a name"))
		} else {
			for _, text := range validation.IsDNS1123Label(container.Name) {
				errs = append(errs, field.Invalid(at.Child("name"), container.Name, text))
			}
			if names[container.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), container.Name))
			}
			names[container.Name] = true
		}
		if container.Image == "" {
			errs = append(errs, field.Required(at.Child("image"), "a container must have an image"))
		}
		errs = append(errs, validateContainerResources(&container.Resources, at.Child("resources"))...)
		for j, port := range container.Ports {
			for _, text := range validation.IsValidPortNum(int(port.ContainerPort)) {
				errs = append(errs, field.Invalid(at.Child("ports").Index(j).Child("containerPort"), port.ContainerPort, text))
			}
		}
	}
	return errs
}

// validateContainerResources checks quantities, and that requests do not exceed their limits.
func validateContainerResources(resources *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	errs := schedulingv1beta1.ValidateResources(resources.Requests, path.Child("requests"))
	errs = append(errs, schedulingv1beta1.ValidateResources(resources.Limits, path.Child("limits"))...)
	for _, name := range sortedKeys(resources.Requests) {
		request := resources.Requests[name]
		if limit, ok := resources.Limits[name]; ok && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests").Key(string(name)), request.String(),
				fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	return errs
}
