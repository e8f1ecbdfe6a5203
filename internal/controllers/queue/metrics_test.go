package queue

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// gauges returns the values of all gauges of a queue's groups, by name.
func gauges(t *testing.T, queue string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "queue_name" && l.GetValue() == queue {
					values[family.GetName()] = m.GetGauge().GetValue()
				}
			}
		}
	}
	return values
}

// TestGroupsAreCountedUnderVolcanosNames also verifies that a deleted queue has no series (#5048).
func TestGroupsAreCountedUnderVolcanosNames(t *testing.T) {
	queueMetrics.Register()
	exportMetrics("counted", counts{inqueue: 1, pending: 2, running: 3, unknown: 4, completed: 5})
	want := map[string]float64{
		"volcano_queue_pod_group_inqueue_count": 1, "volcano_queue_pod_group_pending_count": 2, "volcano_queue_pod_group_running_count": 3,
		"volcano_queue_pod_group_unknown_count": 4, "volcano_queue_pod_group_completed_count": 5,
	}
	if diff := cmp.Diff(want, gauges(t, "counted")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	exportMetrics("stays", counts{})
	deleteQueueMetrics("counted")
	if got := gauges(t, "counted"); len(got) != 0 {
		t.Errorf("of a queue that is gone there is %v", got)
	}
	if got := gauges(t, "stays"); len(got) != 5 {
		t.Errorf("of the other queue there is %v", got)
	}
}
