package srunoptions

import (
	"testing"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

func TestSignalsOfSteps(t *testing.T) {
	t.Parallel()
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
