package queues_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/screens/queues"
	"github.com/vc-batch/vc/test/tuitest"
)

// jobs replaces the screen of jobs. It shows the filter.
type jobs struct{ text string }

func (*jobs) Name() string                                                  { return screenapi.Jobs }
func (*jobs) Crumb(*screenapi.Context) string                               { return "Jobs" }
func (*jobs) Note(*screenapi.Context) string                                { return "" }
func (*jobs) Update(*screenapi.Context, screenapi.Event) []screenapi.Effect { return nil }
func (j *jobs) Draw(_ *screenapi.Context, c canvas.Canvas)                  { c.Put(0, 0, "jobs where "+j.text, 0) }
func (*jobs) Twin(*screenapi.Context) string                                { return "" }
func (j *jobs) SetFilter(_ *screenapi.Context, text string) error           { j.text = text; return nil }
func (*jobs) Matches(*screenapi.Context) (shown, all int)                   { return 0, 0 }

func specs() []screenapi.Spec {
	return []screenapi.Spec{queues.ScreenSpec(), {Name: screenapi.Jobs, Tab: "Jobs", ShortTab: "Jobs", Number: "2", New: func(string) screenapi.Screen { return &jobs{} }}}
}

func TestFrames(t *testing.T) {
	tuitest.CompareFrames(t, "queues", tuitest.SameSpecsAlways(screens.AllScreenSpecs()), tuitest.KeyPresser("3"))
}

func TestScripts(t *testing.T) { tuitest.RunScripts(t, "testdata/scripts/*.txt", specs()) }
