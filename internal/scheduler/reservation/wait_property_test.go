package reservation_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/propertytest"
	"github.com/vc-batch/vc/test/randomcluster"
)

// random is a random cluster with the methods of these tests.
type random struct{ *randomcluster.Cluster }

func newRandom(t *rapid.T) *random { return &random{randomcluster.New(t)} }

// TestWaitingHelps (I12) checks that a gang with a certain forecast has started by then, if running pods end at
// their limits and no new gangs come, whichever gangs wait besides it: gangs that want more than their minimum,
// that attach volumes, that are overdue, that may not be tried.
func TestWaitingHelps(t *testing.T) {
	foretold, waits, beside := 0, 0, 0
	whole := propertytest.Check(t, 2000, func(t *rapid.T) {
		r := newRandom(t)
		r.Timed = true
		r.Enrich()
		for range rapid.IntRange(3, 12).Draw(t, "steps") {
			r.AddGang()
			if rapid.IntRange(0, 2).Draw(t, "cycle") > 0 {
				r.Decide()
			}
			r.begin()
		}
		for _, name := range r.PodNames() {
			if r.Pods[name].DeletionTimestamp != nil { // others rely on their end
				r.DropPod(name)
			}
		}
		m, settled := r.settle()
		if !settled {
			return
		}
		unforeseen := false
		for _, name := range slices.Sorted(maps.Keys(r.Gangs)) {
			e := m.Gangs["default/"+name].Status.Explanation
			unforeseen = unforeseen || e != nil && e.EstimatedStart == nil && !e.Never
		}
		for _, name := range slices.Sorted(maps.Keys(r.Gangs)) {
			explanation := m.Gangs["default/"+name].Status.Explanation
			if explanation == nil {
				continue
			}
			if explanation.EstimatedStart != nil {
				foretold++
			}
			for _, h := range explanation.Helps {
				if h.Kind != schedulingv1beta1.HelpWait {
					continue
				}
				if waits++; unforeseen {
					beside++
				}
				if !r.StartsInTime(name, r.Now, h) {
					t.Fatalf("%s waits: %s\nhelp %+v; it has not started then\n%s", name, explanation.Message, h, clustertest.Describe(m))
				}
			}
		}
	})
	t.Logf("%d starts were foretold, %d were told to wait for theirs, %d of them beside a gang of which nothing is known", foretold, waits, beside)
	if whole && beside == 0 {
		t.Error("nobody was told to wait beside a gang of which nothing is known")
	}
}

// settle starts all gangs that can start, and returns the rebuilt world; false if it takes too long.
func (r *random) settle() (*model.Cluster, bool) {
	for range 6 {
		e, m := r.Rebuild()
		d := e.Cycle(r.Now, m)
		if decision.Assume(m, &d); len(d.Binds)+len(d.Ungates) == 0 {
			return m, true
		}
		r.CarryOut(&d)
		r.Now = r.Now.Add(time.Second)
	}
	return nil, false
}

// begin reports the start time of running pods that have none yet.
func (r *random) begin() {
	for _, name := range r.PodNames() {
		if p := r.Pods[name]; p.Status.Phase == corev1.PodRunning && p.Status.StartTime == nil {
			at := metav1.NewTime(r.Now.Add(-time.Second))
			p.Status.StartTime = &at
		}
	}
}
