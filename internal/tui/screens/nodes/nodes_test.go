package nodes_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/screens/nodes"
	"github.com/vc-batch/vc/internal/tui/tuitest"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// job replaces the screen of a job. It shows which job was opened.
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

func TestFrames(t *testing.T) {
	tuitest.Frames(t, "nodes", tuitest.Always(screens.All()), tuitest.Keys("4"))
}

func TestHeatMapFrames(t *testing.T) {
	tuitest.Frames(t, "heat", tuitest.Always(screens.All()), tuitest.Keys("4", "H"))
}

func TestScripts(t *testing.T) { tuitest.Scripts(t, "testdata/scripts/*.txt", specs()) }

func TestANodeThatComesAfterTheScreenWasOpenedForItTakesNoCursor(t *testing.T) {
	spec := nodes.Spec()
	spec.New = func(string) screen.Screen { return nodes.New("r02n04") }
	app := tuitest.Start(t, []screen.Spec{spec}, "few", tuitest.Size{W: 120, H: 40})
	app.Draw()
	later, err := tuitest.World("normal")
	if err != nil {
		t.Fatal(err)
	}
	app.SetSnapshot(later)
	if at := app.Top().(widget.Tabled).Tables()[0].Place(); at.ID == "r02n04" {
		t.Errorf("the cursor went to %+v", at)
	}
}
