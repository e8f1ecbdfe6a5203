package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

func TestTheCacheKeepsOnlyWhatControllersLookAt(t *testing.T) {
	t.Parallel()
	pod := func(owners ...metav1.OwnerReference) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p", OwnerReferences: owners, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}},
			Spec: corev1.PodSpec{SchedulerName: "volcano", Volumes: []corev1.Volume{{Name: "v"}},
				Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			Status: corev1.PodStatus{Phase: corev1.PodFailed, Conditions: []corev1.PodCondition{{Type: corev1.PodReady}, {Type: corev1.DisruptionTarget}}, ContainerStatuses: []corev1.ContainerStatus{{RestartCount: 2, Image: "i",
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3}}}}},
		}
	}
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", UID: "u"}}
	tests := map[string]struct {
		pod        *corev1.Pod
		containers int
	}{
		"a job's pod without its spec":      {pod(*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))), 0},
		"a plain pod with what it asks for": {pod(), 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := CacheOptions(nil, false)
			if err != nil {
				t.Fatal(err)
			}
			for kind, options := range all.ByObject {
				if _, isPod := kind.(*corev1.Pod); !isPod {
					continue
				}
				if _, err := options.Transform(test.pod); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range test.pod.Spec.Containers {
				if c.Name != "c" || c.Image != "" || test.pod.Spec.Volumes != nil {
					t.Errorf("spec %+v", test.pod.Spec)
				}
			}
			status := test.pod.Status.ContainerStatuses[0]
			if len(test.pod.Spec.Containers) != test.containers || test.pod.Spec.SchedulerName != "volcano" || test.pod.ManagedFields != nil {
				t.Errorf("spec %+v", test.pod.Spec)
			}
			if conditions := test.pod.Status.Conditions; len(conditions) != 1 || conditions[0].Type != corev1.DisruptionTarget {
				t.Errorf("conditions %+v: why it was stopped has to be there, and no more", conditions)
			}
			if status.RestartCount != 2 || status.State.Terminated.ExitCode != 3 || status.Image != "" {
				t.Errorf("status %+v", status)
			}
		})
	}
}

func TestPodsKeepTheTimeOfTheirBindingOnlyForTraces(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{false, true} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue},
		}}}
		reducePod(pod, keeps)
		conditions := pod.Status.Conditions
		hasBindTime := len(conditions) == 1 && conditions[0].Type == corev1.PodScheduled
		if hasBindTime != keeps || len(conditions) > 1 {
			t.Errorf("keepsBindTime %t: conditions %+v", keeps, conditions)
		}
	}
}
