package nodegroup

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/resource"
)

func TestLimitsAreAmountsByGroup(t *testing.T) {
	got, err := parseLimits(`{"fast":{"cpu":"1500m","memory":"1Gi","nvidia.com/gpu":2},"slow":{"cpu":"-1"}}`)
	want := map[string][]resource.Amount{
		"fast": {{Name: "cpu", Value: 1500}, {Name: "memory", Value: 1 << 30}, {Name: "nvidia.com/gpu", Value: 2}},
		"slow": {{Name: "cpu", Value: 0}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestWhatQueuesSayOfGroups(t *testing.T) {
	list := func(names ...string) []string { return names }
	r := newRules(&schedulingv1beta1.Affinity{
		NodeGroupAffinity: &schedulingv1beta1.NodeGroupAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: list("must"), PreferredDuringSchedulingIgnoredDuringExecution: list("first", "second", "must")},
		NodeGroupAntiAffinity: &schedulingv1beta1.NodeGroupAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: list("never"), PreferredDuringSchedulingIgnoredDuringExecution: list("rather-not", "never")},
	}, true)
	for group, want := range map[string]struct {
		allowed bool
		points  float64
	}{"must": {true, 100}, "first": {true, 50}, "second": {true, 50.0 * 2 / 3}, "rather-not": {true, -1}, "never": {false, -1}, "other": {false, 0}} {
		if r.allowsGroup(group) != want.allowed || math.Abs(r.points[group]-want.points) > 1e-9 {
			t.Errorf("%s: %v with %g points, want %v with %g", group, r.allowsGroup(group), r.points[group], want.allowed, want.points)
		}
	}
}

func FuzzLimits(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"a":{"cpu":"1"}}`, `{"a":{"cpu":"1e30"}}`, `{"a":{"cpu":"x"}}`, `[1]`, `{"a":null}`, `{"a":{"cpu":"-99999999999999999999"}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		of, err := parseLimits(text)
		if err != nil {
			return
		}
		for group, list := range of {
			for _, a := range list {
				if a.Value < 0 || a.Value > resource.MaxAmount {
					t.Errorf("%q: %s has %+v", text, group, a)
				}
			}
		}
	})
}
