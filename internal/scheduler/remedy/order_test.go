package remedy

import (
	"testing"
	"time"
)

func TestARunTimeIsRoundedDownAsUsersWriteIt(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]time.Duration{
		59 * time.Second:             0,
		90 * time.Second:             time.Minute,
		99*time.Minute + time.Second: 99 * time.Minute,
		100 * time.Minute:            100 * time.Minute,
		109 * time.Minute:            100 * time.Minute,
		599 * time.Minute:            590 * time.Minute,
		10*time.Hour + time.Second:   10 * time.Hour,
		1000 * time.Minute:           16 * time.Hour,
	} {
		if got := roundRunTime(d); got != want {
			t.Errorf("%v is rounded to %v, want %v", d, got, want)
		}
	}
}
