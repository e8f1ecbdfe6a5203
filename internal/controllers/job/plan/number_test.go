package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// TestWhenAJobGetsItsNumber verifies that a job gets its number before any object that carries it is created; a running
// job gets one alongside its other writes.
func TestWhenAJobGetsItsNumber(t *testing.T) {
	t.Parallel()
	counted := func(s *story) *story { s.Numbers = true; return s }
	own := func(s *story) *story { batchv1alpha1.SetJobID(s.Job, 7); return s }
	taken := func(s *story) *story { s.NumberTaken = true; return s }
	none := func(s *story) *story { s.NumbersFrom = noon.Add(time.Minute); return s }
	rest := func() *story {
		return given(batchv1alpha1.Completed).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodSucceeded).counted()
	}
	tests := map[string]struct {
		in    *story
		want  []string
		again time.Duration
	}{
		"before it begins":               {counted(given("")), []string{"status Pending v0 r0", "NumberJob"}, 0},
		"not where there are none":       {given(""), []string{"status Pending v0 r0", "CreateGroup"}, 0},
		"not when it has one":            {counted(own(given(""))), []string{"status Pending v0 r0", "CreateGroup"}, 0},
		"another one when that is taken": {counted(own(taken(given("")))), []string{"status Pending v0 r0", "NumberJob"}, 0},
		"beside its work":                {counted(given(batchv1alpha1.Pending).group(schedulingv1beta1.PodGroupInqueue).counted()), []string{"NumberJob", "create w-0 w-1"}, 0},
		"it goes on without for a while": {none(counted(given(""))), []string{"status Pending v0 r0", "CreateGroup"}, time.Minute},
		"when it has ended, too":         {counted(rest()), []string{"NumberJob"}, 0},
		"or later":                       {none(counted(rest())), nil, time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			if diff := cmp.Diff(test.want, lazyAside(digest(&p))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if p.RequeueAfter != test.again {
				t.Errorf("again after %v", p.RequeueAfter)
			}
		})
	}
}
