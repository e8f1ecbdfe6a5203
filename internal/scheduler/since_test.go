package scheduler

import (
	"testing"
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
)

// TestExplanationContainsSinceAndAttempts has a gang wait for nodes while other pods come and go, through a restart of the
// scheduler, and then wait for another reason. The time since when it waits must stay while the reason stays, and
// the number of attempts must only grow.
func TestExplanationContainsSinceAndAttempts(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()), model.NodeFrom(make.Node("b").CPU("1").Obj()))
	w.model.Apply(gangOf("g", 2, 2, "4")...)
	w.cycle()
	began := w.now
	told := func() *schedulingv1beta1.Explanation {
		t.Helper()
		e := w.model.Gangs["default/g"].Status.Explanation
		if e == nil || e.Since == nil {
			t.Fatalf("told %+v, want a reason and since when", e)
		}
		return e
	}
	if e := told(); e.Reason != "GangDoesNotFit" || !e.Since.Time.Equal(began) || e.Attempts != 1 || e.LastAttempt == nil || !e.LastAttempt.Time.Equal(began) {
		t.Fatalf("at first: %+v, want it tried once, at %v", e, began)
	}
	// A change that may help makes the scheduler try again; the count is written with other numbers, at most once a
	// minute.
	tried := int32(1)
	for i := range 10 {
		cpu := []string{"2", "3"}[i%2]
		w.model.Apply(model.NodeFrom(make.Node("b").CPU(cpu).Obj()))
		w.now = w.now.Add(20 * time.Second)
		w.cycle()
		e := told()
		if !e.Since.Time.Equal(began) || e.Attempts < tried {
			t.Fatalf("after %s: %+v, want the same beginning, and %d tries or more", w.now.Sub(began), e, tried)
		}
		tried = e.Attempts
	}
	if last := told().LastAttempt.Time; tried < 4 || last.Before(began.Add(time.Minute)) || last.After(w.now) {
		t.Errorf("tried %d times until %v, in %s", tried, last, w.now.Sub(began))
	}
	// Another scheduler takes over.
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	w.engine = e
	w.now = w.now.Add(2 * time.Minute)
	w.model.Apply(model.NodeFrom(make.Node("b").CPU("2").Obj()))
	w.cycle()
	if e := told(); !e.Since.Time.Equal(began) || e.Attempts < tried {
		t.Errorf("after a restart: %+v, want since %v and more than %d tries", e, began, tried)
	}
	// The reason changes, so the time and count start again.
	w.model.Apply(model.QueueGone{Name: "default"})
	w.cycle()
	if e := told(); e.Reason == "GangDoesNotFit" || !e.Since.Time.Equal(w.now) || e.Attempts > 1 {
		t.Errorf("when its queue is gone: %+v, want another reason, since %v", e, w.now)
	}
}
