package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/local"
)

func TestDownTellsOfThePodsThatItStopped(t *testing.T) {
	const failed = "; jobs that do not restart their pods will fail when the cluster starts again"
	for name, c := range map[string]struct {
		stopped local.Stopped
		want    string
	}{
		"nothing ran":           {local.Stopped{}, "no cluster was running in /d"},
		"no pods":               {local.Stopped{WasRunning: true}, "stopped the cluster in /d"},
		"one pod":               {local.Stopped{WasRunning: true, Pods: 1}, "stopped the cluster in /d\n1 running pod was stopped" + failed},
		"two pods":              {local.Stopped{WasRunning: true, Pods: 2}, "stopped the cluster in /d\n2 running pods were stopped" + failed},
		"what will not be back": {local.Stopped{WasRunning: true, Pods: 2, Purged: true}, "stopped the cluster in /d; its state was removed\n2 running pods were stopped"},
	} {
		if diff := cmp.Diff(c.want, downText("/d", c.stopped)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
