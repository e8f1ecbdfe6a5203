package predicates

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

func TestAttachingIsRead(t *testing.T) {
	t.Parallel()
	usual := framework.Attaching{Limits: true, Zones: true, Binding: true, Devices: true, Weight: 1, BindTimeout: 10 * time.Minute, DeviceTimeout: 10 * time.Second}
	with := func(change func(*framework.Attaching)) framework.Attaching {
		a := usual
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		arguments config.Arguments
		want      framework.Attaching
		told      int
	}{
		"everything is on by default":     {want: usual},
		"devices are looked for so long":  {arguments: config.Arguments{"dynamicresources.filterTimeoutSeconds": 3}, want: with(func(a *framework.Attaching) { a.DeviceTimeout = 3 * time.Second })},
		"without a limit":                 {arguments: config.Arguments{"dynamicresources.filterTimeoutSeconds": 0}, want: with(func(a *framework.Attaching) { a.DeviceTimeout = 0 })},
		"a bind waits for its volumes":    {arguments: config.Arguments{"volumebinding.bindTimeoutSeconds": 60}, want: with(func(a *framework.Attaching) { a.BindTimeout = time.Minute })},
		"a time below zero is told":       {arguments: config.Arguments{"dynamicresources.filterTimeoutSeconds": -1}, want: usual, told: 1},
		"a time of more than a day is":    {arguments: config.Arguments{"volumebinding.bindTimeoutSeconds": 1e9}, want: usual, told: 1},
		"a weight below zero counts as 0": {arguments: config.Arguments{"volumebinding.weight": -2.5}, want: with(func(a *framework.Attaching) { a.Weight = 0 })},
		"a curve that is none is told":    {arguments: config.Arguments{"volumebinding.shape": "steep"}, want: usual, told: 1},
		"a curve that falls back is told": {arguments: config.Arguments{"volumebinding.shape": []any{
			map[string]any{"utilization": 10, "score": 1}, map[string]any{"utilization": 5, "score": 2},
		}}, want: with(func(a *framework.Attaching) { a.Curve[0] = framework.CurvePoint{Utilization: 10, Score: 1} }), told: 1},
		"a score beyond ten is told": {arguments: config.Arguments{"volumebinding.shape": []any{map[string]any{"utilization": 10, "score": 11}}}, want: usual, told: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := 0
			got := parseAttaching(c.arguments, func(string) { told++ })
			if diff := cmp.Diff(c.want, got); diff != "" || told != c.told {
				t.Errorf("told %d times, want %d (-want +got):\n%s", told, c.told, diff)
			}
		})
	}
}
