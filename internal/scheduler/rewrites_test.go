package scheduler

import (
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

// checkRewrites checks that a status is written once more if the watch still shows an earlier one 10 s after it was decided,
// that the delay doubles with each rewrite, and that nothing is written if the watch only shows the write late. The status
// was decided at w.now. showEarlier and showWritten let the watch show a status. apply applies the write of the status in the
// decisions, and returns false if they contain none.
func checkRewrites(t *testing.T, w *world, showEarlier, showWritten func(), apply func(*decision.Decisions) bool) {
	t.Helper()
	decided := w.now
	showEarlier()
	if d := w.cycleAfter(2 * time.Second); apply(d) || !d.WakeAt.Equal(decided.Add(10*time.Second)) {
		t.Errorf("2 s after the decision: the next cycle is %s after it, or the status is written already", d.WakeAt.Sub(decided))
	}
	if !apply(w.cycleAfter(8 * time.Second)) {
		t.Error("10 s after the decision, the status is not written again")
	}
	if apply(w.cycleAfter(20 * time.Second)) {
		t.Error("the status is written again although the watch has shown nothing since")
	}
	showEarlier()
	showWritten()
	if apply(w.cycleAfter(20 * time.Second)) {
		t.Error("the status is written again although the watch shows it")
	}
	showEarlier()
	if !apply(w.cycleAfter(0)) {
		t.Error("long after the decision, the status is not written again at once")
	}
	decided = w.now
	showEarlier()
	if d := w.cycleAfter(2 * time.Second); apply(d) || !d.WakeAt.Equal(decided.Add(40*time.Second)) {
		t.Errorf("after two rewrites, the next cycle is %s after the decision, want 40 s", d.WakeAt.Sub(decided))
	}
}

// TestAQueueStatusIsWrittenAgainIfTheWatchShowsAnother verifies this for queues.
func TestAQueueStatusIsWrittenAgainIfTheWatchShowsAnother(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()))
	observed := make.Queue("default").Obj()
	earlier := observed.DeepCopy()
	w.model.Apply(model.QueueFrom(observed), model.TaskFrom(make.Pod("p").Gang("g").CPU("2").On("a").Phase(corev1.PodRunning).Obj(), true), model.GangFrom(make.Gang("g").Obj()))
	apply := func(d *decision.Decisions) bool {
		for _, q := range d.Queues {
			if q.Queue == observed.Name {
				observed.Status.Allocated, observed.Status.Deserved, observed.Status.Terminating = q.Allocated, q.Deserved, q.Terminating
				observed.Status.Share, observed.Status.Waiting = q.SharePercent, q.Waiting
				return true
			}
		}
		return false
	}
	if !apply(w.cycleAfter(2 * time.Second)) {
		t.Fatal("the status is not written")
	}
	checkRewrites(t, w, func() { w.model.Apply(model.QueueFrom(earlier)) }, func() { w.model.Apply(model.QueueFrom(observed)) }, apply)
}

// TestAGangStatusIsWrittenAgainIfTheWatchShowsAnother verifies this for PodGroups. Conditions of other programs do not count.
func TestAGangStatusIsWrittenAgainIfTheWatchShowsAnother(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()))
	observed := make.Gang("g").Obj()
	earlier := observed.DeepCopy()
	w.model.Apply(model.TaskFrom(make.Pod("p").Gang("g").CPU("2").On("a").Phase(corev1.PodRunning).Obj(), true), model.GangFrom(observed))
	apply := func(d *decision.Decisions) bool {
		if len(d.Gangs) == 0 {
			return false
		}
		observed.Status = d.Gangs[0].Status
		return true
	}
	if !apply(w.cycleAfter(2*time.Second)) || observed.Status.Phase != schedulingv1beta1.PodGroupRunning {
		t.Fatalf("the status is not written, or its phase is %q", observed.Status.Phase)
	}
	showWritten := func() {
		shown := observed.DeepCopy()
		shown.Status.Conditions = append(shown.Status.Conditions, schedulingv1beta1.PodGroupCondition{Type: "example.com/Seen", Status: corev1.ConditionTrue})
		w.model.Apply(model.GangFrom(shown))
	}
	checkRewrites(t, w, func() { w.model.Apply(model.GangFrom(earlier)) }, showWritten, apply)
}
