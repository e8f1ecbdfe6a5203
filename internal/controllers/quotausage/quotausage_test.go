package quotausage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func text(l corev1.ResourceList) map[string]string {
	m := map[string]string{}
	for name, quantity := range l {
		m[string(name)] = quantity.String()
	}
	return m
}

func TestAPodCountsInTheKeysOfAQuota(t *testing.T) {
	t.Parallel()
	spec := &corev1.PodSpec{
		Overhead: list("cpu", "100m"),
		Containers: []corev1.Container{
			{Resources: corev1.ResourceRequirements{Requests: list("cpu", "1", "nvidia.com/gpu", "2"), Limits: list("nvidia.com/gpu", "2")}},
			{Resources: corev1.ResourceRequirements{Limits: list("memory", "1Gi")}},
		},
		InitContainers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list("cpu", "3")}}},
	}
	want := map[string]string{
		"pods": "1", "count/pods": "1", "cpu": "3100m", "requests.cpu": "3100m", "memory": "1Gi", "requests.memory": "1Gi", "limits.memory": "1Gi",
		"nvidia.com/gpu": "2", "requests.nvidia.com/gpu": "2",
	}
	if diff := cmp.Diff(want, text(UsageOfPod(spec))); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

func TestUsageAddsUp(t *testing.T) {
	t.Parallel()
	total := list("cpu", "1")
	Add(total, list("cpu", "250m", "memory", "1Mi"), 3)
	if diff := cmp.Diff(map[string]string{"cpu": "1750m", "memory": "3Mi"}, text(total)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
