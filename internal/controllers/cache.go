package controllers

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/hypernode"
)

// CacheOptions returns the cache options for the manager that runs the controllers. The cache keeps only the fields
// that the controllers use, so that it can hold a hundred thousand pods. The kinds that change with every job are read
// through separate clients, which are created from config. With keepsBindTimes, pods keep the time at which they were
// bound, which traces need.
func CacheOptions(config *rest.Config, keepsBindTimes bool) (cache.Options, error) {
	informers, err := newInformers(config)
	if err != nil {
		return cache.Options{}, err
	}
	slim := func(f func(any)) cache.ByObject {
		return cache.ByObject{Transform: newTransform(f)}
	}
	return cache.Options{
		NewInformer:      informers.newInformer,
		DefaultTransform: newTransform(func(any) {}),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: hypernode.ConfigMapScope(),
			&corev1.Pod{}: slim(func(o any) {
				if pod, ok := o.(*corev1.Pod); ok {
					reducePod(pod, keepsBindTimes)
				}
			}),
			&appsv1.ReplicaSet{}: slim(func(o any) {
				if set, ok := o.(*appsv1.ReplicaSet); ok {
					set.Spec.Template = corev1.PodTemplateSpec{}
				}
			}),
			&appsv1.StatefulSet{}: slim(func(o any) {
				if set, ok := o.(*appsv1.StatefulSet); ok {
					set.Spec.Template, set.Spec.VolumeClaimTemplates = corev1.PodTemplateSpec{}, nil
				}
			}),
		},
	}, nil
}

// newTransform returns a transform function that removes the managed fields and then calls f.
func newTransform(f func(any)) toolscache.TransformFunc {
	strip := cache.TransformStripManagedFields()
	return func(o any) (any, error) {
		o, err := strip(o)
		if err == nil {
			f(o)
		}
		return o, err
	}
}

// reducePod removes the fields that the controllers do not use. A pod that belongs to a job loses almost its whole
// spec, because the job contains the template; any other pod keeps only its resource requests. The details of the
// status are removed, too, except for the time of the binding if keepsBindTime is true.
func reducePod(pod *corev1.Pod, keepsBindTime bool) {
	pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		isBindTime := c.Type == corev1.PodScheduled && keepsBindTime
		return c.Type != corev1.DisruptionTarget && !isBindTime
	})
	if len(pod.Status.Conditions) == 0 {
		pod.Status.Conditions = nil
	}
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			s := &statuses[i]
			statuses[i] = corev1.ContainerStatus{Name: s.Name, State: s.State, Ready: s.Ready, RestartCount: s.RestartCount, LastTerminationState: s.LastTerminationState}
		}
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && owner.Kind == "Job" && owner.APIVersion == batchv1alpha1.GroupVersion.String() {
		pod.Spec = corev1.PodSpec{SchedulerName: pod.Spec.SchedulerName, NodeName: pod.Spec.NodeName}
		return
	}
	delete(pod.Annotations, corev1.LastAppliedConfigAnnotation)
	pod.Spec = corev1.PodSpec{
		SchedulerName: pod.Spec.SchedulerName, NodeName: pod.Spec.NodeName, PriorityClassName: pod.Spec.PriorityClassName,
		Overhead: pod.Spec.Overhead, Resources: pod.Spec.Resources,
		InitContainers: reduceContainers(pod.Spec.InitContainers), Containers: reduceContainers(pod.Spec.Containers),
	}
}

func reduceContainers(containers []corev1.Container) []corev1.Container {
	slim := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		slim[i] = corev1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy}
	}
	return slim
}
