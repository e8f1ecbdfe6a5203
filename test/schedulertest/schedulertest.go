// Package schedulertest runs engines of the scheduler for the tests of its packages.
package schedulertest

import (
	"slices"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// NewEngine returns an engine with the configuration in text.
func NewEngine(t interface{ Fatal(...any) }, text string) *scheduler.Engine {
	cfg, _, err := config.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := scheduler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// BindInCycles applies a world to a cluster and runs three cycles of an engine with the configuration in text. It
// returns the names of the bound pods, sorted.
func BindInCycles(t *testing.T, text string, c *model.Cluster, world ...model.Delta) (bound []string) {
	t.Helper()
	cfg, warnings, err := config.Parse([]byte(text))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	e, err := scheduler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(world...)
	now := make.Epoch
	for range 3 {
		now = now.Add(2 * time.Second)
		d := e.Cycle(now, c)
		decision.Assume(c, &d)
		for _, b := range d.Binds {
			bound = append(bound, b.Pod.Name)
		}
	}
	slices.Sort(bound)
	return bound
}
