package nodes_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/screens/nodes"
	"github.com/vc-batch/vc/internal/tui/widget"
	"github.com/vc-batch/vc/test/tuitest"
)

// job replaces the screen of a job. It shows which job was opened.
type job struct{ target string }

func (*job) Name() string                                                  { return screenapi.Job }
func (j *job) Crumb(*screenapi.Context) string                             { return j.target }
func (*job) Note(*screenapi.Context) string                                { return "" }
func (*job) Update(*screenapi.Context, screenapi.Event) []screenapi.Effect { return nil }
func (j *job) Draw(_ *screenapi.Context, c canvas.Canvas)                  { c.Put(0, 0, "this is "+j.target, 0) }
func (*job) Twin(*screenapi.Context) string                                { return "" }

func specs() []screenapi.Spec {
	return []screenapi.Spec{nodes.ScreenSpec(), {Name: screenapi.Job, New: func(target string) screenapi.Screen { return &job{target} }}}
}

func TestFrames(t *testing.T) {
	tuitest.CompareFrames(t, "nodes", tuitest.SameSpecsAlways(screens.AllScreenSpecs()), tuitest.KeyPresser("4"))
}

func TestHeatMapFrames(t *testing.T) {
	tuitest.CompareFrames(t, "heat", tuitest.SameSpecsAlways(screens.AllScreenSpecs()), tuitest.KeyPresser("4", "H"))
}

func TestScripts(t *testing.T) { tuitest.RunScripts(t, "testdata/scripts/*.txt", specs()) }

func TestANodeThatComesAfterTheScreenWasOpenedForItTakesNoCursor(t *testing.T) {
	spec := nodes.ScreenSpec()
	spec.New = func(string) screenapi.Screen { return nodes.New("r02n04") }
	app := tuitest.Start(t, []screenapi.Spec{spec}, "few", tuitest.Size{W: 120, H: 40})
	app.Draw()
	later, err := tuitest.SnapshotOfWorld("normal")
	if err != nil {
		t.Fatal(err)
	}
	app.SetSnapshot(later)
	if at := app.VisibleScreen().(widget.Tabled).Tables()[0].Place(); at.ID == "r02n04" {
		t.Errorf("the cursor went to %+v", at)
	}
}
