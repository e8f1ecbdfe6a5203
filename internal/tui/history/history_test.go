package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

func seen(waiting int) map[Series]float64 {
	return map[Series]float64{waitingInQueue: float64(waiting)}
}

var waitingInQueue = Series{Kind: Waiting, Queue: "q"}

func TestAHistoryRepeatsTheLastValue(t *testing.T) {
	t.Parallel()
	var h History
	began := time.Unix(1000, 0)
	h.Record(began, seen(1))
	h.Record(began.Add(3*firstStep), seen(4))
	if diff := cmp.Diff([]float64{1, 1, 1, 4, 4, 4}, h.Values(waitingInQueue, began.Add(5*firstStep))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if values := h.Values(Series{Kind: Idle, Resource: "cpu"}, began); values != nil {
		t.Errorf("values %v without nodes", values)
	}
}

// After any time, a history has a bounded number of cells, and the last one holds the current value if the last record
// was long enough ago.
func TestAHistoryIsBounded(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 200, func(t *rapid.T) {
		var h History
		now := time.Unix(0, 0)
		for range rapid.IntRange(1, 60).Draw(t, "times") {
			now = now.Add(time.Duration(rapid.Int64Range(int64(recordEvery), int64(time.Hour)).Draw(t, "later")))
			value := rapid.IntRange(0, 9).Draw(t, "waiting")
			h.Record(now, seen(value))
			values := h.Values(waitingInQueue, now)
			if len(values) > MostCells || values[len(values)-1] != float64(value) {
				t.Fatalf("%d cells, the last %v; want at most %d, and %d", len(values), values[len(values)-1], MostCells, value)
			}
		}
	})
}
