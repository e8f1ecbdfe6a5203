package scheduler

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestBindsRestOnAMinimumThatMayHaveBeenRaised checks that bindings of pods beyond the minimum check the PodGroup
// again, because they may have been created for a higher minimum that the scheduler has not received yet. Other
// bindings do not check it, because that costs a request per gang.
func TestBindsRestOnAMinimumThatMayHaveBeenRaised(t *testing.T) {
	for name, c := range map[string]struct {
		minimum int
		want    *decision.GangCheck
	}{
		"a gang with no more pods than its minimum": {3, nil},
		"a gang with more":                          {2, &decision.GangCheck{MinMember: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			deltas := append(gangOf("g", 3, c.minimum, "1"), model.NodeFrom(make.Node("n").CPU("8").Memory("8Gi").Obj()))
			d := newWorld(t, deltas...).cycle()
			if len(d.Binds) != 3 {
				t.Fatalf("%d binds, want 3", len(d.Binds))
			}
			for _, b := range d.Binds {
				if diff := cmp.Diff(c.want, b.Check); diff != "" {
					t.Errorf("%s (-want +got):\n%s", b.Pod.Name, diff)
				}
			}
		})
	}
}
