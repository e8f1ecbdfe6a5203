package nodesize

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
	"github.com/vc-batch/vc/test/make"
)

// TestAPodIsTooLargeIfNoNodeCouldTakeIt compares pods with a node of 4 cores and 16Gi and a node of 8 cores and 4Gi,
// which are full.
func TestAPodIsTooLargeIfNoNodeCouldTakeIt(t *testing.T) {
	for name, c := range map[string]struct {
		cpu, memory string
		want        bool
		lacks       []string
	}{
		"fits the first node":          {"4", "16Gi", false, nil},
		"fits the second node":         {"8", "1Gi", false, nil},
		"more cores than any node":     {"9", "1Gi", true, []string{"cpu"}},
		"more of both than any node":   {"9", "17Gi", true, []string{"cpu", "memory"}},
		"no node has enough of both":   {"8", "16Gi", true, nil},
		"more memory than any node":    {"1", "17Gi", true, []string{"memory"}},
		"nothing but a number of pods": {"0", "0", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := model.New()
			cluster.Apply(model.NodeFrom(make.Node("many-cores").CPU("8").Memory("4Gi").Obj()))
			cluster.Apply(model.NodeFrom(make.Node("much-memory").CPU("4").Memory("16Gi").Obj()))
			cluster.Apply(model.TaskFrom(make.Pod("running").CPU("8").On("many-cores").Obj(), true))
			cluster.Apply(model.TaskFrom(make.Pod("p").CPU(c.cpu).Memory(c.memory).Obj(), true))
			var view overlay.Overlay
			var judge equivalence.Judge
			view.Sync(cluster)
			judge.Open(&view, cluster.Resources, cluster.Shapes)

			tooLarge, limits := New(cluster, &view, &judge).IsTooLarge(cluster.Task("pod-p").Shape)

			if tooLarge != c.want {
				t.Errorf("too large: %t, want %t", tooLarge, c.want)
			}
			if diff := cmp.Diff(c.lacks, resourcesOf(limits)); diff != "" {
				t.Errorf("resources that no node has enough of (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEqualPodsShareARequest checks that a request for several equal pods is compared with a node pod by pod.
func TestEqualPodsShareARequest(t *testing.T) {
	cluster := model.New()
	cluster.Apply(model.NodeFrom(make.Node("n").CPU("4").Memory("8Gi").Obj()))
	cluster.Apply(model.TaskFrom(make.Pod("p").CPU("8").Obj(), true))
	var view overlay.Overlay
	var judge equivalence.Judge
	view.Sync(cluster)
	judge.Open(&view, cluster.Resources, cluster.Shapes)
	sizes := New(cluster, &view, &judge)
	request := cluster.Task("pod-p").Shape.Request
	if limits := sizes.ExceededLimits(request, 2, sizes.LargestAmounts()); len(limits) > 0 {
		t.Errorf("two pods of 4 cores exceed a node of 4 cores: %v", limits)
	}
	if limits := sizes.ExceededLimits(request, 1, sizes.LargestPermitted(nil)); len(limits) != 1 || limits[0].Asked != 8000 || limits[0].Limit != 4000 {
		t.Errorf("one pod of 8 cores: %v, want 8000 requested, limit 4000", limits)
	}
}

func resourcesOf(limits []explain.Limit) []string {
	var names []string
	for _, limit := range limits {
		names = append(names, limit.Resource)
	}
	return names
}
