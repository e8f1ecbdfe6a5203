package scheduler

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// cycleAfter runs one cycle after a pause, and assumes that its decisions are carried out.
func (w *world) cycleAfter(pause time.Duration) *decision.Decisions {
	w.now = w.now.Add(pause)
	d := w.engine.Cycle(w.now, w.model)
	decision.Assume(w.model, &d)
	return &d
}

// TestAnOverwrittenStatusOfAQueueIsWrittenAgain verifies that a status that the watch still shows 10 s after another one
// was written is replaced, once, and that a watch that shows the write late causes no further write.
func TestAnOverwrittenStatusOfAQueueIsWrittenAgain(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()))
	observed := make.Queue("default").Obj()
	w.model.Apply(model.QueueFrom(observed))
	before := observed.DeepCopy()
	w.model.Apply(model.TaskFrom(make.Pod("p").Gang("g").CPU("2").On("a").Phase(corev1.PodRunning).Obj(), true), model.GangFrom(make.Gang("g").Obj()))
	isWritten := func(d *decision.Decisions) bool {
		return slices.ContainsFunc(d.Queues, func(q decision.QueueStatus) bool {
			if q.Queue != "default" {
				return false
			}
			observed.Status.Allocated, observed.Status.Deserved, observed.Status.Terminating = q.Allocated, q.Deserved, q.Terminating
			observed.Status.Share, observed.Status.Waiting = q.SharePercent, q.Waiting
			return true
		})
	}
	if !isWritten(w.cycleAfter(2 * time.Second)) {
		t.Fatal("the status is not written")
	}
	written := w.now

	w.model.Apply(model.QueueFrom(before))
	d := w.cycleAfter(2 * time.Second)
	if isWritten(d) || !d.WakeAt.Equal(written.Add(overwrittenAfter)) {
		t.Errorf("2 s after the write: written %v, next cycle at %v; want the next cycle 10 s after the write", d.Queues, d.WakeAt)
	}
	if !isWritten(w.cycleAfter(8 * time.Second)) {
		t.Error("10 s after the write, the status is not written again")
	}
	if isWritten(w.cycleAfter(20 * time.Second)) {
		t.Error("the status is written again although the queue has not changed")
	}
	w.model.Apply(model.QueueFrom(before), model.QueueFrom(observed))
	if isWritten(w.cycleAfter(20 * time.Second)) {
		t.Error("the status is written again although the watch shows it")
	}
}

// TestAnOverwrittenStatusOfAGangIsWrittenAgain verifies that a status that the watch still shows 10 s after another one
// was written is replaced, once, and that a watch that shows the write late causes no further write.
func TestAnOverwrittenStatusOfAGangIsWrittenAgain(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()))
	group := make.Gang("g").Obj()
	before := group.DeepCopy()
	w.model.Apply(model.TaskFrom(make.Pod("p").Gang("g").CPU("2").On("a").Phase(corev1.PodRunning).Obj(), true), model.GangFrom(group))
	isWritten := func(d *decision.Decisions) bool {
		if len(d.Gangs) == 0 {
			return false
		}
		group.Status = d.Gangs[0].Status
		return true
	}
	if !isWritten(w.cycleAfter(2*time.Second)) || group.Status.Phase != schedulingv1beta1.PodGroupRunning {
		t.Fatalf("the status is not written, or its phase is %q", group.Status.Phase)
	}
	written := w.now

	w.model.Apply(model.GangFrom(before))
	d := w.cycleAfter(2 * time.Second)
	if isWritten(d) || !d.WakeAt.Equal(written.Add(overwrittenAfter)) {
		t.Errorf("2 s after the write: written %v, next cycle at %v; want the next cycle 10 s after the write", d.Gangs, d.WakeAt)
	}
	if !isWritten(w.cycleAfter(8 * time.Second)) {
		t.Error("10 s after the write, the status is not written again")
	}
	if isWritten(w.cycleAfter(20 * time.Second)) {
		t.Error("the status is written again although the PodGroup has not changed")
	}
	w.model.Apply(model.GangFrom(before), model.GangFrom(group))
	if isWritten(w.cycleAfter(20 * time.Second)) {
		t.Error("the status is written again although the watch shows it")
	}
}
