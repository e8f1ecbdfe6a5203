package rescheduling

import (
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/scheduler/config"
)

func TestAnInvalidIntervalIsReported(t *testing.T) {
	t.Parallel()
	strategies := []any{map[string]any{"name": "lowNodeUtilization"}}
	for text, want := range map[string]struct {
		interval time.Duration
		isValid  bool
	}{
		"": {defaultInterval, true}, "90s": {90 * time.Second, true}, "soon": {defaultInterval, false}, "0s": {defaultInterval, false}, "-5m": {defaultInterval, false},
	} {
		warnings := 0
		p := New(config.Plugin{Arguments: config.Arguments{"interval": text, "strategies": strategies}}, func(string) { warnings++ })
		if isValid := warnings == 0; p.interval != want.interval || isValid != want.isValid {
			t.Errorf("%q: %s, %d warnings; want %s, valid: %v", text, p.interval, warnings, want.interval, want.isValid)
		}
	}
}
