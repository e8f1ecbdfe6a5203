package queue

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
	"github.com/vc-batch/vc/test/propertytest"
)

// disturb makes one random change.
func disturb(t *rapid.T, w *world) error {
	name := rapid.SampledFrom(queueNames).Draw(t, "queue")
	w.clock = w.clock.Add(time.Duration(rapid.IntRange(0, 1200).Draw(t, "ms")) * time.Millisecond)
	switch rapid.IntRange(0, 16).Draw(t, "what") {
	case 0, 1, 2:
		return w.reconcile(name, -1, false)
	case 3, 4:
		return w.reconcile(name, rapid.IntRange(0, 3).Draw(t, "writes"), rapid.Bool().Draw(t, "lost reply"))
	case 5, 6:
		w.see(rapid.SampledFrom(watched).Draw(t, "kind"))
	case 7, 8:
		w.seeAll()
		return w.reconcile(name, -1, false)
	case 9, 10:
		w.group(name, rapid.IntRange(0, 2).Draw(t, "group"), rapid.SampledFrom([]schedulingv1beta1.PodGroupPhase{"", schedulingv1beta1.PodGroupInqueue,
			schedulingv1beta1.PodGroupRunning, schedulingv1beta1.PodGroupCompleted, schedulingv1beta1.PodGroupUnknown}).Draw(t, "phase"))
	case 11, 12, 13:
		w.command(name, rapid.SampledFrom([]busv1alpha1.Action{busv1alpha1.OpenQueueAction, busv1alpha1.CloseQueueAction}).Draw(t, "action"))
	case 14:
		w.remake(name)
	case 15:
		for range rapid.IntRange(1, 3).Draw(t, "fault") {
			w.api.Faults = append(w.api.Faults, rapid.SampledFrom(apiserver.PossibleFaults()).Draw(t, "fault"))
		}
		w.note("the API server fails")
	default:
		w.wish(name, rapid.SampledFrom([]string{"", "Open", "Closed", "Nonsense"}).Draw(t, "wish"))
	}
	return nil
}

func TestQueuesComeToWhatWasAskedWhateverHappens(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 10_000, func(t *rapid.T) {
		w := newWorld()
		defer func() {
			if t.Failed() {
				t.Log(strings.Join(w.trace, "\n"))
			}
		}()
		for i := range rapid.IntRange(0, 40).Draw(t, "steps") {
			if err := disturb(t, w); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		if err := w.calm(); err != nil {
			t.Fatal(err)
		}
		if err := w.check(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestACrashAfterAnyWriteIsMadeUpFor(t *testing.T) {
	t.Parallel()
	for writes := range 4 {
		for _, lostReply := range []bool{false, true} {
			for _, dying := range queueNames {
				w := newWorld()
				for _, action := range []busv1alpha1.Action{busv1alpha1.CloseQueueAction, busv1alpha1.OpenQueueAction} {
					began := w.calm()
					w.command("a", action)
					w.seeAll()
					first := w.reconcile("a", -1, false)
					w.seeAll()
					if err := errors.Join(began, first, w.reconcile(dying, writes, lostReply), w.calm(), w.check()); err != nil {
						t.Errorf("%s of %s dies after %d writes, lost reply %v: %v\n%s", action, dying, writes, lostReply, err, strings.Join(w.trace, "\n"))
					}
				}
			}
		}
	}
}
