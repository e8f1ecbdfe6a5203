package scheduler

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestNothingIsDecidedWhileNothingChanges has 5,000 pods wait on a full cluster, with time limits (for reservations
// and forecasts) and without: after the first minute nothing is written for a minute.
func TestNothingIsDecidedWhileNothingChanges(t *testing.T) {
	for name, limit := range map[string]int64{"without time limits": 0, "with time limits": 3600} {
		t.Run(name, func(t *testing.T) {
			e, err := New(config.Default())
			if err != nil {
				t.Fatal(err)
			}
			m, now := model.New(), make.Epoch
			m.Apply(model.QueueFrom(make.Queue("default").Obj()))
			add := func(gang string, tasks int, node string) {
				g := make.Gang(gang).Min(tasks).Queue("default").Obj()
				g.UID = types.UID(gang)
				m.Apply(model.GangFrom(g))
				for i := range tasks {
					p := make.Pod(fmt.Sprintf("%s-%d", gang, i)).Gang(gang).CPU("2").Obj()
					if limit > 0 {
						p.Spec.ActiveDeadlineSeconds = &limit
					}
					if node != "" {
						at := metav1.NewTime(now)
						p.Spec.NodeName, p.Status.Phase, p.Status.StartTime = node, corev1.PodRunning, &at
					}
					m.Apply(model.TaskFrom(p, true))
				}
			}
			for i := range 20 {
				node := fmt.Sprintf("n%02d", i)
				m.Apply(model.NodeFrom(make.Node(node).CPU("3").Obj()))
				add("running-"+node, 1, node)
			}
			for i := range 100 {
				add(fmt.Sprintf("gang-%03d", i), 20, "")
			}
			for i := range 3000 {
				add(fmt.Sprintf("single-%04d", i), 1, "")
			}
			written, cycles := 0, 0
			for end := now.Add(2 * time.Minute); now.Before(end); {
				d := e.Cycle(now, m)
				decision.Assume(m, &d)
				cycles++
				if n := len(d.Gangs) + len(d.Queues) + len(d.PodConditions) + len(d.Events) + len(d.Binds) + len(d.Evicts) + len(d.Nominations); now.After(make.Epoch.Add(time.Minute)) {
					written += n
					if n > 0 {
						t.Logf("after %s: %d statuses of gangs, %d of queues, %d conditions, %d events", now.Sub(make.Epoch), len(d.Gangs), len(d.Queues), len(d.PodConditions), len(d.Events))
					}
				}
				next := now.Add(time.Second)
				if !d.WakeAt.IsZero() && d.WakeAt.Before(next) && d.WakeAt.After(now) {
					next = d.WakeAt
				}
				now = next
			}
			if written > 0 {
				t.Errorf("%d decisions in %d cycles of the second minute, want none", written, cycles)
			}
			if limit == 0 {
				return
			}
			first := m.Gangs["default/gang-000"].Status.Explanation
			if first == nil || first.EstimatedStart == nil || first.Queue.Position != 1 {
				t.Errorf("the first is told %+v, want position 1 and an estimated start", first)
			}
		})
	}
}
