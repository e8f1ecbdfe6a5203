package session

import (
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/scheduler/framework"
)

func TestAJobIsTriedAgainAtTheEarliestTimeThatItWaitsFor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s, j := &Session{Now: now}, &framework.Job{}
	if s.ReachedOrRetryAt(j, time.Time{}) || !j.DueAt.IsZero() {
		t.Error("no time was reached, or is waited for")
	}
	for _, wait := range []time.Duration{2 * time.Hour, time.Hour, 3 * time.Hour} {
		if s.ReachedOrRetryAt(j, now.Add(wait)) {
			t.Errorf("the time in %v is reached", wait)
		}
	}
	if !s.ReachedOrRetryAt(j, now) {
		t.Error("the present is not reached")
	}
	if want := now.Add(time.Hour); !j.DueAt.Equal(want) {
		t.Errorf("tried again at %v, want %v", j.DueAt, want)
	}
}
