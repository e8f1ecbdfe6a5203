package queues_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/screens/queues"
	"github.com/vc-batch/vc/internal/tui/tuitest"
)

// jobs replaces the screen of jobs. It shows the filter.
type jobs struct{ text string }

func (*jobs) Name() string                                         { return screen.Jobs }
func (*jobs) Crumb(*screen.Context) string                         { return "Jobs" }
func (*jobs) Note(*screen.Context) string                          { return "" }
func (*jobs) Update(*screen.Context, screen.Event) []screen.Effect { return nil }
func (j *jobs) Draw(_ *screen.Context, c canvas.Canvas)            { c.Put(0, 0, "jobs where "+j.text, 0) }
func (*jobs) Twin(*screen.Context) string                          { return "" }
func (j *jobs) SetFilter(_ *screen.Context, text string) error     { j.text = text; return nil }
func (*jobs) Matches(*screen.Context) (shown, all int)             { return 0, 0 }

func specs() []screen.Spec {
	return []screen.Spec{queues.Spec(), {Name: screen.Jobs, Tab: "Jobs", ShortTab: "Jobs", Number: "2", New: func(string) screen.Screen { return &jobs{} }}}
}

func TestFrames(t *testing.T) {
	tuitest.Frames(t, "queues", tuitest.Always(screens.All()), tuitest.Keys("3"))
}

func TestScripts(t *testing.T) { tuitest.Scripts(t, "testdata/scripts/*.txt", specs()) }
