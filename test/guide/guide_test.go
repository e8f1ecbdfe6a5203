package guide_test

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/eventrow"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/screens/nodes"
	"github.com/vc-batch/vc/internal/tui/screens/queues"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/guide"
	"github.com/vc-batch/vc/test/tuitest"
)

// start returns a dashboard after some key presses.
func start(t *testing.T, look guide.Look) *tui.App {
	t.Helper()
	snap, err := tuitest.SnapshotOfWorld(look.World)
	if err != nil {
		t.Fatal(err)
	}
	app, err := tui.New(tui.Settings{Specs: screens.AllScreenSpecs(), Theme: "dark", Colors: theme.TrueColor, ASCII: look.ASCII, User: "mei", Own: "nlp", Program: "vcctl",
		Actions: &tuitest.Recorder{Seen: snap}, Now: tuitest.Now})
	if err != nil {
		t.Fatal(err)
	}
	app.Resize(look.W, look.H)
	app.SetSnapshot(snap)
	app.Draw()
	for part := range strings.SplitSeq(look.Keys, ";") {
		typed, ok := strings.CutPrefix(part, "type ")
		for _, r := range typed {
			if ok {
				press(app, string(r))
			}
		}
		if !ok {
			for _, key := range strings.Fields(part) {
				press(app, key)
			}
		}
	}
	return app
}

// press presses a key, carries out the requests, and draws the frame, as the program does between two keys.
func press(app *tui.App, key string) {
	if key == " " {
		key = "space"
	}
	app.HandleKey(tuitest.NewKeyPress(key))
	tuitest.AnswerRequests(app)
	app.Draw()
}

func facts(t *testing.T) guide.Facts {
	t.Helper()
	snap, err := tuitest.SnapshotOfWorld("normal")
	if err != nil {
		t.Fatal(err)
	}
	return guide.Facts{
		Frame: func(look guide.Look) (canvas.Canvas, error) { return start(t, look).Draw(), nil },
		Keys:  start(t, guide.Look{World: "empty", W: 80, H: 24}).AllBindings(),
		Filters: map[string][]string{
			"jobs": jobrow.FilterFields(snap, tuitest.Now).FilterKeys(), "queues": (&queues.Queues{}).FilterKeys(), "nodes": (&nodes.Nodes{}).FilterKeys(), "events": eventrow.FilterFields.FilterKeys(),
		},
	}
}

// Two pages are generated from the program. To regenerate them, run go test ./test/guide -rewrite.
func TestThePagesAreUpToDate(t *testing.T) {
	f := facts(t)
	page, err := guide.RenderGuide(f)
	if err != nil {
		t.Fatal(err)
	}
	tuitest.CompareWithFile(t, "../../docs/guides/dashboard.md", page)
	page, err = guide.RenderReference(f)
	if err != nil {
		t.Fatal(err)
	}
	tuitest.CompareWithFile(t, "../../docs/reference/dashboard.md", page)
}

// docs/dashboard.svg, the picture in the README, is a frame of the program.
func TestThePictureIsUpToDate(t *testing.T) {
	app := start(t, guide.Look{World: "normal", W: 120, H: 40, Keys: "1"})
	picture := guide.RenderSVG(app.Draw(), app.Context().Theme, "vcctl top: nodes, queues, jobs and events of a cluster")
	tuitest.CompareWithFile(t, "../../docs/dashboard.svg", picture)
}

// The reference contains every screen and every key of the table.
func TestTheReferenceHasEveryScreen(t *testing.T) {
	f := facts(t)
	page, err := guide.RenderReference(f)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Keys {
		if b := &f.Keys[i]; !strings.Contains(page, "| "+b.Name+" | "+b.Help) {
			t.Errorf("key %s of %s is missing in docs/reference/dashboard.md", b.Key, b.Screen)
		}
	}
	for _, name := range theme.Names() {
		if !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("theme %s is missing in docs/reference/dashboard.md", name)
		}
	}
}
