package job

import (
	"errors"
	"slices"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// TestADelayBeforeARetryGrows verifies that an obstacle that stays, such as a pod of an older job with a long grace period,
// does not cause several requests a second.
func TestADelayBeforeARetryGrows(t *testing.T) {
	known := &jobState{}
	var delays []time.Duration
	for range 7 {
		a := &application{Reconciler: &Reconciler{}, known: known}
		result, err := a.handleFailure(t.Context(), passingError{errors.New("an older pod is still terminating")})
		if err != nil {
			t.Fatal(err)
		}
		delays = append(delays, result.RequeueAfter)
	}
	ms := time.Millisecond
	if want := []time.Duration{200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms}; !slices.Equal(delays, want) {
		t.Errorf("delays %v, want %v", delays, want)
	}
	done, r := &batchv1alpha1.Job{}, &Reconciler{}
	if _, err := r.carryOutPlan(t.Context(), &plan.Input{Job: done}, &plan.Plan{Job: done}, known); err != nil || known.soonDelay != 0 {
		t.Errorf("after a success, the delay is %s: %v", known.soonDelay, err)
	}
}
