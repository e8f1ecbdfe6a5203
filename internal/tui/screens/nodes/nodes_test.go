package nodes_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/screens/nodes"
	"github.com/vc-batch/vc/internal/tui/tuitest"
)

// job stands for the screen of a job: it shows which.
type job struct{ target string }

func (*job) Name() string                                         { return screen.Job }
func (j *job) Crumb(*screen.Context) string                       { return j.target }
func (*job) Note(*screen.Context) string                          { return "" }
func (*job) Update(*screen.Context, screen.Event) []screen.Effect { return nil }
func (j *job) Draw(_ *screen.Context, c canvas.Canvas)            { c.Put(0, 0, "this is "+j.target, 0) }
func (*job) Twin(*screen.Context) string                          { return "" }

func specs() []screen.Spec {
	return []screen.Spec{nodes.Spec(), {Name: screen.Job, New: func(target string) screen.Screen { return &job{target} }}}
}

func TestFrames(t *testing.T) { tuitest.Frames(t, "nodes", screens.All(), tuitest.Keys("4")) }

func TestHeatMapFrames(t *testing.T) {
	tuitest.Frames(t, "heat", screens.All(), tuitest.Keys("4", "H"))
}

func TestScripts(t *testing.T) { tuitest.Scripts(t, "testdata/scripts/*.txt", specs()) }
