package textformat

import (
	"testing"
	"time"
)

func TestADurationHasNoZeroUnitsAtItsEnd(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 24 * time.Hour: "24h", 90 * time.Minute: "1h30m", 90 * time.Second: "1m30s", time.Hour + time.Second: "1h0m1s", 10 * time.Minute: "10m",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestOneThingIsSingular(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 pods", 1: "1 pod", 2: "2 pods"} {
		if got := CountWithNoun(n, "pod"); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
