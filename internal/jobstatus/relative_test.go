package jobstatus

import (
	"testing"
	"time"
)

func TestMomentsHaveTheirDistanceFromNow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 56, 0, 0, time.UTC)
	for name, test := range map[string]struct{ text, want string }{
		"ahead":        {"the job does not start before 2026-11-22T12:56:38Z", "the job does not start before 2026-11-22T12:56:38Z (in 38s)"},
		"past":         {"once until 2026-11-22T12:50:00Z", "once until 2026-11-22T12:50:00Z (6m ago)"},
		"another zone": {"2026-11-22T14:00:00+01:00, by the time limits", "2026-11-22T14:00:00+01:00 (in 4m), by the time limits"},
		"none":         {"no node has the label gpu=a100", "no node has the label gpu=a100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := AddRelativeTimes(test.text, now); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
