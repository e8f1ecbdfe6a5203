package scheduler

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestPodsWithoutTheirPodGroupAreReportedOnceWithinASecond adds pods one by one, with a cycle each, and keeps the
// daemon's promise: a cycle whenever one was requested.
func TestPodsWithoutTheirPodGroupAreReportedOnceWithinASecond(t *testing.T) {
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	m := model.New()
	m.Apply(model.QueueFrom(make.Queue("default").Obj()))
	came, told := map[string]time.Time{}, map[string]time.Time{}
	uids := map[string]types.UID{}
	var wake time.Time
	cycle := func(now time.Time) {
		d := e.Cycle(now, m)
		decision.Assume(m, &d)
		for _, p := range d.PodConditions {
			if at, again := told[p.Pod.Name]; again {
				t.Errorf("%s is told at %s and again at %s", p.Pod.Name, at.Sub(make.Epoch), now.Sub(make.Epoch))
			}
			told[p.Pod.Name], uids[p.Pod.Name] = now, p.Pod.UID
		}
		wake = d.WakeAt
	}
	for i := range 300 {
		now := make.Epoch.Add(time.Duration(i) * 7 * time.Millisecond)
		name := fmt.Sprintf("p-%d", i)
		m.Apply(model.TaskFrom(make.Pod(name).Gang("late").CPU("1").Obj(), true))
		came[name] = now
		cycle(now)
	}
	for cycles := 0; !wake.IsZero(); cycles++ {
		if cycles > 1000 {
			t.Fatal("1,000 cycles were asked for after the last pod")
		}
		cycle(wake)
	}
	for name, at := range came {
		if when, ok := told[name]; !ok || when.Sub(at) > time.Second || when.Sub(at) < patience {
			t.Errorf("%s came at %s and is told at %s (ever: %v)", name, at.Sub(make.Epoch), when.Sub(make.Epoch), ok)
		}
	}

	lost := "p-7"
	delete(told, lost)
	m.Apply(model.PodConditionFailed{UID: uids[lost]})
	for cycle(make.Epoch.Add(time.Minute)); !wake.IsZero(); {
		cycle(wake)
	}
	if told[lost].IsZero() {
		t.Errorf("%s is not told again after the write was refused", lost)
	}
}
