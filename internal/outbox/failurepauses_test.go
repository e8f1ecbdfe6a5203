package outbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

func TestPausesAfterConflicts(t *testing.T) {
	now := time.Now()
	var pauses failurePauses
	var got []time.Duration
	for range 10 {
		pause := pauses.nextPause(model.GangStatusFailed{UID: "a"}, firstConflictPause, now)
		got = append(got, pause)
		now = now.Add(pause + time.Second)
	}
	ms := time.Millisecond
	want := []time.Duration{20 * ms, 40 * ms, 80 * ms, 160 * ms, 320 * ms, 640 * ms, 1280 * ms, 2560 * ms, 5 * time.Second, 5 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	if pause := pauses.nextPause(model.GangStatusFailed{UID: "b"}, firstConflictPause, now); pause != firstConflictPause {
		t.Errorf("another PodGroup waits for %s", pause)
	}
	if pause := pauses.nextPause(model.GangStatusFailed{UID: "a"}, firstConflictPause, now.Add(pauseResetDelay)); pause != firstConflictPause {
		t.Errorf("after a long time without conflicts, the pause is %s", pause)
	}
	if pause := pauses.nextPause(model.GangStatusFailed{UID: "b"}, firstFailurePause, now); pause != firstFailurePause {
		t.Errorf("a failure of another kind pauses for %s", pause)
	}
}

func TestOutdatedConflictsAreForgotten(t *testing.T) {
	now := time.Now()
	var pauses failurePauses
	for i := range 2000 {
		pauses.nextPause(model.GangStatusFailed{UID: types.UID(fmt.Sprint(i))}, firstConflictPause, now)
		now = now.Add(pauseResetDelay / 100)
	}
	if most := 100 + int(100*cleanupInterval/pauseResetDelay) + 1; len(pauses.last) > most {
		t.Errorf("%d conflicts are remembered, want at most %d: those of the memory and of the time until the next removal", len(pauses.last), most)
	}
}

// TestABindThatAlwaysFailsIsNotRepeatedInATightLoop: the scheduler decides again after each report.
func TestABindThatAlwaysFailsIsNotRepeatedInATightLoop(t *testing.T) {
	cases := map[string]struct {
		failure     error
		least, most int // binds in a minute
	}{
		"a conflict":                     {conflict, 10, 25},
		"the namespace is being deleted": {forbidden, 10, 16},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			api := &fakeAPI{answer: func(call string, _ int) error {
				if strings.HasPrefix(call, "bind") {
					return c.failure
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
				if calls < c.least || calls > c.most {
					t.Errorf("%d binds in a minute, want %d to %d", calls, c.least, c.most)
				}
			})
		})
	}
}
