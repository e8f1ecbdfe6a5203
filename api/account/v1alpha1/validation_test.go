package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestALimitForANameThatNoNodeHasIsRejected covers names that would limit nothing.
func TestALimitForANameThatNoNodeHasIsRejected(t *testing.T) {
	t.Parallel()
	limits := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"cpu", "pods", "memory", "hugepages-2Mi", "nvidia.com/gpu", "gpu", "requests.cpu", "requests.nvidia.com/gpu"} {
		limits[name] = resource.MustParse("1")
	}
	account := newAccount("a", "", AccountSpec{
		Limits:     &AccountLimits{MaxResources: limits},
		UserLimits: &UserLimits{MaxResources: limits, MaxResourcesPerJob: limits},
	})
	var want, got []string
	for _, path := range []string{"spec.limits.maxResources", "spec.userLimits.maxResources", "spec.userLimits.maxResourcesPerJob"} {
		want = append(want, path+"[gpu]", path+"[requests.cpu]", path+"[requests.nvidia.com/gpu]")
	}
	for _, err := range Validate(account, NewTree(nil)) {
		got = append(got, err.Field)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
