package outbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

func TestPausesAfterConflicts(t *testing.T) {
	now := time.Now()
	var c conflictPauses
	var got []time.Duration
	for range 10 {
		pause := c.next(model.GangStatusFailed{UID: "a"}, now)
		got = append(got, pause)
		now = now.Add(pause + time.Second)
	}
	ms := time.Millisecond
	want := []time.Duration{20 * ms, 40 * ms, 80 * ms, 160 * ms, 320 * ms, 640 * ms, 1280 * ms, 2560 * ms, 5 * time.Second, 5 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	if pause := c.next(model.GangStatusFailed{UID: "b"}, now); pause != firstConflictPause {
		t.Errorf("another PodGroup waits for %s", pause)
	}
	if pause := c.next(model.GangStatusFailed{UID: "a"}, now.Add(conflictMemory)); pause != firstConflictPause {
		t.Errorf("after a long time without conflicts, the pause is %s", pause)
	}
}

func TestOutdatedConflictsAreForgotten(t *testing.T) {
	now := time.Now()
	var c conflictPauses
	for i := range 2000 {
		c.next(model.GangStatusFailed{UID: types.UID(fmt.Sprint(i))}, now)
		now = now.Add(conflictMemory / 100)
	}
	if most := 100 + int(100*sweepInterval/conflictMemory) + 1; len(c.last) > most {
		t.Errorf("%d conflicts are remembered, want at most %d: those of the memory and of the time until the next removal", len(c.last), most)
	}
}

// TestABindThatAlwaysConflictsIsNotRepeatedInATightLoop: the scheduler decides again after each report.
func TestABindThatAlwaysConflictsIsNotRepeatedInATightLoop(t *testing.T) {
	api := &fakeAPI{answer: func(call string, nth int) error {
		if strings.HasPrefix(call, "bind") {
			return apierrors.NewConflict(pods, "g-0", fmt.Errorf("attempt %d", nth))
		}
		return nil
	}}
	inBubble(t, api, func(t *testing.T, r *rig) {
		reported := 0
		for range 6000 {
			if len(r.reports()) >= reported {
				reported++
				r.Put(&decision.Decisions{Binds: binds("g", 1)})
			}
			after(10 * time.Millisecond)
		}
		calls := 0
		for _, call := range api.seen() {
			if strings.HasPrefix(call, "bind") {
				calls++
			}
		}
		if calls < 10 || calls > 25 {
			t.Errorf("%d binds in a minute, want 10 to 25", calls)
		}
	})
}
