package queues

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/test/propertytest"
)

func seen(waiting int) *snapshot.Snapshot {
	return &snapshot.Snapshot{Queues: []*snapshot.Queue{{Name: "q", Waiting: waiting, Object: &schedulingv1beta1.Queue{}}}}
}

func TestAHistoryGoesOnWithWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	var h history
	began := time.Unix(1000, 0)
	h.recordNumbers(began, seen(1))
	h.recordNumbers(began.Add(3*firstStep), seen(4))
	_, waiting := h.historyOfQueue("q", "cpu", began.Add(5*firstStep))
	if diff := cmp.Diff([]float64{1, 1, 1, 4, 4, 4}, waiting); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// After any time, a history has a bounded number of cells, and the last one holds the current value.
func TestAHistoryIsBounded(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 200, func(t *rapid.T) {
		var h history
		now := time.Unix(0, 0)
		for range rapid.IntRange(1, 60).Draw(t, "times") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "later")))
			value := rapid.IntRange(0, 9).Draw(t, "waiting")
			h.recordNumbers(now, seen(value))
			_, waiting := h.historyOfQueue("q", "cpu", now)
			if len(waiting) > historyCells || waiting[len(waiting)-1] != float64(value) {
				t.Fatalf("%d cells, the last %v; want at most %d, and %d", len(waiting), waiting[len(waiting)-1], historyCells, value)
			}
		}
	})
}
