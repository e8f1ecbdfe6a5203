package chaos

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestASeedDrawsTheSamePlanEachTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		if diff := cmp.Diff(NewPlan(seed, 3*time.Minute), NewPlan(seed, 3*time.Minute)); diff != "" {
			t.Errorf("seed %d draws two plans:\n%s", seed, diff)
		}
	}
	if cmp.Equal(NewPlan(1, time.Minute), NewPlan(2, time.Minute)) {
		t.Error("two seeds draw one plan")
	}
}

func TestAPlanHasAllFaultsAndShapesAndEndsWhatRunsForEver(t *testing.T) {
	t.Parallel()
	faults, drawn := map[Kind]bool{}, map[Shape]bool{}
	for seed := range uint64(20) {
		plan := NewPlan(seed, 3*time.Minute)
		for _, f := range plan.Faults {
			faults[f.Kind] = true
		}
		for _, s := range plan.Stories {
			drawn[s.Shape] = true
			if last := s.Acts[len(s.Acts)-1].Verb; (s.Shape == endless || s.Shape == stubborn) && last != Remove || last == Suspend {
				t.Errorf("seed %d: nobody ends %s (%s): %v", seed, s.Name, s.Shape, s.Acts)
			}
		}
	}
	for _, k := range kinds {
		if !faults[k.kind] {
			t.Errorf("no plan has the fault %s", k.kind)
		}
	}
	for _, s := range shapes {
		if !drawn[s] {
			t.Errorf("no plan has a job of shape %s", s)
		}
	}
}
