package srunoptions

import (
	"testing"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

func TestTimesAndSignalsOfSteps(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"5": "5m0s", "1:30": "1m30s", "1:00:00": "1h0m0s", "1-2": "26h0m0s", "1-2:3": "26h3m0s", "0-0:0:1": "1s"} {
		if got, err := parseLimit(text); err != nil || got.String() != want {
			t.Errorf("%s: %v %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "1:2:3:4", "1h", "-1"} {
		if got, err := parseLimit(text); err == nil {
			t.Errorf("%s is taken for %s", text, got)
		}
	}
	for text, want := range map[string]launchconfig.Signal{"USR1@30": {Number: 10, Seconds: 30}, "SIGTERM": {Number: 15, Seconds: 60}, "9@0": {Number: 9}} {
		if got, err := parseSignal(text); err != nil || *got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "NOSUCH", "USR1@x", "99", "0"} {
		if got, err := parseSignal(text); err == nil {
			t.Errorf("%s is taken for %+v", text, got)
		}
	}
}
