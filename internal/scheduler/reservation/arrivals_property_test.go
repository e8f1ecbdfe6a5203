package reservation_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// endless is the run time, in minutes, of a pod without a known one: longer than any wait in these tests.
const endless = 100_000

// mixed is a gang that may want more than its minimum and may run for ever.
type mixed struct {
	timed
	least int
}

func drawMixed(t *rapid.T, name string, nodes []int) mixed {
	g := mixed{timed: drawTimed(t, name, nodes)}
	g.least = g.tasks
	if rapid.IntRange(0, 3).Draw(t, "elastic") == 0 {
		g.least = rapid.IntRange(1, g.tasks).Draw(t, "least")
	}
	if rapid.IntRange(0, 4).Draw(t, "endless") == 0 {
		g.minutes = 0
	}
	return g
}

// submitMixed adds a gang as the i-th.
func (r *run) submitMixed(i int, g mixed) {
	r.submit(i, g.timed)
	group := make.Gang(g.name).Min(g.least).Queue("default").Age(time.Duration(i) * time.Second).Obj()
	group.UID = types.UID(g.name)
	r.model.Apply(model.GangFrom(group))
	for uid, pod := range r.pods {
		if strings.HasPrefix(pod.Name, g.name+"-") && g.minutes == 0 {
			pod.Spec.ActiveDeadlineSeconds = nil
			r.minutes[uid] = endless
			r.model.Apply(model.TaskFrom(pod, true))
		}
	}
}

// promisedStart returns the forecast start, in minutes, of the first waiting gang; false if there is no forecast.
func (r *run) promisedStart() (gang string, minute int, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(r.model.Gangs)) {
		g := r.model.Gangs[name]
		e := g.Status.Explanation
		if _, started := r.started[g.Name]; started || e == nil || e.Queue == nil || e.Queue.Position != 1 || e.EstimatedStart == nil {
			continue
		}
		if slices.ContainsFunc(e.Helps, func(h schedulingv1beta1.Help) bool { return h.Kind == schedulingv1beta1.HelpWait }) {
			return g.Name, int(e.EstimatedStart.Sub(make.Epoch) / time.Minute), true
		}
	}
	return "", 0, false
}

// TestWhoComesLaterDoesNotDelayTheHead adds gangs all the time behind one with a forecast start: short and long
// ones, ones that run for ever or want more than their minimum, on nodes and in a queue with a limit. The first
// gang must start by the forecast time.
func TestWhoComesLaterDoesNotDelayTheHead(t *testing.T) {
	promised, passed := 0, 0
	whole := propertytest.Check(t, 5000, func(t *rapid.T) {
		nodes := drawNodes(t)
		r := newRun(t, nodes)
		total := 0
		for _, cpu := range nodes {
			total += cpu
		}
		if rapid.IntRange(0, 2).Draw(t, "limited") == 0 {
			r.model.Apply(model.QueueFrom(make.Queue("default").Capability("cpu", fmt.Sprint(rapid.IntRange(1, total).Draw(t, "limit"))).Obj()))
		}
		made := 0
		arrive := func() {
			r.submitMixed(made, drawMixed(t, fmt.Sprintf("g%02d", made), nodes))
			made++
		}
		for range rapid.IntRange(2, 6).Draw(t, "gangs") {
			arrive()
		}
		r.step()
		head, by, ok := r.promisedStart()
		if !ok {
			return
		}
		promised++
		before := len(r.started)
		for r.minute <= by {
			for range rapid.IntRange(0, 2).Draw(t, "arrivals") {
				if made < 25 {
					arrive()
				}
			}
			r.step()
		}
		if started, ok := r.started[head]; !ok || started > by {
			t.Fatalf("nodes %v: %s was to start by minute %d and started at %d (%v)\n%s", nodes, head, by, started, ok, clustertest.Describe(r.model))
		}
		if len(r.started) > before+1 {
			passed++
		}
	})
	t.Logf("%d were promised a start, of %d of them others started meanwhile", promised, passed)
	if whole && passed == 0 {
		t.Error("nobody ever passed")
	}
}
