package queue

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/seeds"
)

// disturb does one random thing.
func disturb(t *rapid.T, w *world) error {
	name := rapid.SampledFrom(queueNames).Draw(t, "queue")
	w.clock = w.clock.Add(time.Duration(rapid.IntRange(0, 1200).Draw(t, "ms")) * time.Millisecond)
	switch rapid.IntRange(0, 15).Draw(t, "what") {
	case 0, 1, 2:
		return w.reconcile(name, -1, false)
	case 3, 4:
		return w.reconcile(name, rapid.IntRange(0, 3).Draw(t, "writes"), rapid.Bool().Draw(t, "lost reply"))
	case 5, 6:
		return w.see(rapid.SampledFrom([]string{"Queue", "PodGroup", "Command"}).Draw(t, "kind"))
	case 7, 8:
		if err := w.seeAll(); err != nil {
			return err
		}
		return w.reconcile(name, -1, false)
	case 9, 10:
		return w.group(name, rapid.IntRange(0, 2).Draw(t, "group"), rapid.SampledFrom([]scheduling.PodGroupPhase{"", scheduling.PodGroupInqueue,
			scheduling.PodGroupRunning, scheduling.PodGroupCompleted, scheduling.PodGroupUnknown}).Draw(t, "phase"))
	case 11, 12, 13:
		return w.command(name, rapid.SampledFrom([]bus.Action{bus.OpenQueueAction, bus.CloseQueueAction}).Draw(t, "action"))
	case 14:
		return w.remake(name)
	default:
		return w.wish(name, rapid.SampledFrom([]string{"", "Open", "Closed", "Nonsense"}).Draw(t, "wish"))
	}
}

func TestQueuesComeToWhatWasAskedWhateverHappens(t *testing.T) {
	t.Parallel()
	seeds.Check(t, 300, func(t *rapid.T) {
		w, err := newWorld()
		if err != nil {
			t.Fatal(err)
		}
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
				w, err := newWorld()
				if err != nil {
					t.Fatal(err)
				}
				for _, action := range []bus.Action{bus.CloseQueueAction, bus.OpenQueueAction} {
					steps := []error{w.calm(), w.command("a", action), w.seeAll(), w.reconcile("a", -1, false), w.seeAll(), w.reconcile(dying, writes, lostReply), w.calm(), w.check()}
					if err := errors.Join(steps...); err != nil {
						t.Errorf("%s of %s dies after %d writes, lost reply %v: %v\n%s", action, dying, writes, lostReply, err, strings.Join(w.trace, "\n"))
					}
				}
			}
		}
	}
}
