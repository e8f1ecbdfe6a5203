package tuitest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the goldens and scripts")

// Size is the size of a terminal.
type Size struct{ W, H int }

// Sizes are the terminal sizes of goldens.
var Sizes = []Size{{220, 60}, {160, 50}, {120, 40}, {80, 24}, {60, 15}}

// look describes how a golden is drawn.
type look struct {
	name, theme string
	colors      theme.Colors
	ascii       bool
}

var looks = []look{{"mono", "dark", theme.NoColor, false}, {"colour", "dark", theme.TrueColor, false}, {"ascii", "dark", theme.NoColor, true}}

// Start returns a dashboard of a world in a terminal of a size, in colour and with all glyphs.
func Start(t testing.TB, specs []screenapi.Spec, world string, size Size) *tui.App {
	t.Helper()
	return startDashboard(t, specs, world, size, look{theme: "dark", colors: theme.TrueColor})
}

func startDashboard(t testing.TB, specs []screenapi.Spec, world string, size Size, l look) *tui.App {
	t.Helper()
	app, err := StartWithPreferences(t, specs, world, size, tui.Settings{Theme: l.theme, Colors: l.colors, ASCII: l.ascii})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// StartWithPreferences returns a dashboard with the theme, preferences and RunCommand of these settings.
func StartWithPreferences(t testing.TB, specs []screenapi.Spec, world string, size Size, settings tui.Settings) (*tui.App, error) {
	t.Helper()
	snap, err := SnapshotOfWorld(world)
	if err != nil {
		t.Fatal(err)
	}
	settings.Specs, settings.User, settings.Own, settings.Program, settings.Actions, settings.Now = specs, "mei", "nlp", "vcctl", &Recorder{Seen: snap}, Now
	app, err := tui.New(settings)
	if err != nil {
		return nil, err
	}
	app.Resize(size.W, size.H)
	app.SetSnapshot(snap)
	return app, nil
}

// AnswerRequests carries out the requests of a dashboard with a Recorder until no more arrive. It ignores all effects
// other than Run.
func AnswerRequests(app *tui.App) {
	for range 20 {
		asked := app.TakeRequests()
		if len(asked) == 0 {
			return
		}
		for _, request := range asked {
			if run, ok := request.Effect.(screenapi.Run); ok {
				app.ReportDone(request.From, run, performRun(run))
			}
		}
	}
}

// performRun carries out a Run.
func performRun(run screenapi.Run) screenapi.Done {
	done := screenapi.Done{Name: run.Name}
	if run.Fetch != nil {
		done.Value, done.Err = run.Fetch(context.Background())
	} else {
		done.Said, done.Err = run.Do(context.Background())
	}
	return done
}

// KeyPresser returns an open function for CompareFrames that presses keys.
func KeyPresser(names ...string) func(*tui.App) {
	return func(app *tui.App) {
		for _, name := range names {
			app.HandleKey(NewKeyPress(name))
			AnswerRequests(app)
			app.Draw()
		}
	}
}

// SameSpecsAlways returns the same screens for every world.
func SameSpecsAlways(specs []screenapi.Spec) func(world string) []screenapi.Spec {
	return func(string) []screenapi.Spec { return specs }
}

// CompareFrames compares the frames of a screen in all sizes, looks and worlds with the files
// testdata/<name>-<size>.txt. specs returns the screens for a world. open brings a new dashboard to the tested screen;
// nil leaves it on its first one. Without worlds, CompareFrames uses those of GoldenWorldNames.
//
// A file contains each frame three times: plain, in colour, and in ASCII. In the last two, a line that equals the plain
// one is written as "=". A line that equals the one in the first world, drawn the same way, is written as "^".
func CompareFrames(t *testing.T, name string, specs func(world string) []screenapi.Spec, open func(*tui.App), worlds ...string) {
	t.Helper()
	if len(worlds) == 0 {
		worlds = GoldenWorldNames()
	}
	for _, size := range Sizes {
		t.Run(size.String(), func(t *testing.T) {
			a := album{first: map[string][]string{}}
			for _, world := range worlds {
				for _, l := range looks {
					app := startDashboard(t, specs(world), world, size, l)
					AnswerRequests(app)
					if open != nil {
						open(app)
					}
					a.appendFrame(t, world, l.name, app, size)
				}
			}
			CompareWithFile(t, goldenPath(name, size), a.text.String())
		})
	}
}

// Stop is a step of a tour: the keys to press after the previous step.
type Stop struct {
	Title string
	Keys  []string
}

// CompareTour compares the frames of a sequence of steps in a world with files like those of CompareFrames, but with
// one look only: without colours if drawn is "mono", otherwise in the colours of a theme, or in "16 colours" or "256
// colours".
func CompareTour(t *testing.T, name string, specs []screenapi.Spec, world, drawn string, sizes []Size, stops ...Stop) {
	t.Helper()
	l := look{drawn, drawn, theme.TrueColor, false}
	switch drawn {
	case "mono":
		l.theme, l.colors = "dark", theme.NoColor
	case "16 colours":
		l.theme, l.colors = "dark", theme.Colors16
	case "256 colours":
		l.theme, l.colors = "dark", theme.Colors256
	}
	for _, size := range sizes {
		t.Run(fmt.Sprintf("%s in %s, %s", world, drawn, size), func(t *testing.T) {
			a := album{first: map[string][]string{}}
			app := startDashboard(t, specs, world, size, l)
			for _, stop := range stops {
				KeyPresser(stop.Keys...)(app)
				a.plain = nil
				a.appendFrame(t, stop.Title, drawn, app, size)
			}
			CompareWithFile(t, goldenPath(name, size), a.text.String())
		})
	}
}

// String returns the size as 120x40.
func (s Size) String() string { return fmt.Sprintf("%dx%d", s.W, s.H) }

func goldenPath(name string, size Size) string {
	return filepath.Join("testdata", fmt.Sprintf("%s-%s.txt", name, size))
}

// album collects frames as the text of a file.
type album struct {
	text strings.Builder
	// first holds the lines of the first frame of each look. plain holds the lines of the last frame without colours.
	first map[string][]string
	plain []string
}

func (a *album) appendFrame(t *testing.T, title, drawn string, app *tui.App, size Size) {
	t.Helper()
	frame := app.Draw()
	CheckFrame(t, frame, size)
	fmt.Fprintf(&a.text, "== %s, %s\n", title, drawn)
	lines := strings.Split(strings.TrimSuffix(frame.Text(), "\n"), "\n")
	if drawn != "mono" && drawn != "ascii" {
		lines = coloredLines(frame, app.Context().Theme)
	}
	if drawn == "mono" {
		a.plain = nil
	}
	for i, line := range lines {
		switch {
		case line == "":
		case a.plain != nil && line == a.plain[i]:
			line = "="
		case a.first[drawn] != nil && line == a.first[drawn][i]:
			line = "^"
		}
		a.text.WriteString(line + "\n")
	}
	if a.first[drawn] == nil {
		a.first[drawn] = lines
	}
	if a.plain == nil {
		a.plain = lines
	}
}

// coloredLines returns the lines of a frame with escape sequences, without trailing blanks.
func coloredLines(frame canvas.Canvas, look *theme.Theme) []string {
	lines := strings.Split(frame.StyledText(look.Open), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// cutNumber matches a number whose end is cut off. overwritten matches the mark of a cut that other text overwrites.
// Both would mislead the user.
var (
	cutNumber   = regexp.MustCompile(`(?:^|[ (/=<>+])\d[\d,]*(?:\.\d+)?…`)
	overwritten = regexp.MustCompile(`…[\pL\pN]`)
)

// CheckFrame fails the test if a frame has the wrong size or contains a cut number or an overwritten mark.
func CheckFrame(t testing.TB, frame canvas.Canvas, size Size) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(frame.Text(), "\n"), "\n")
	if len(lines) != size.H && size.H > 0 {
		t.Errorf("a frame of %dx%d has %d lines", size.W, size.H, len(lines))
	}
	for _, line := range lines {
		if canvas.Width(line) > size.W {
			t.Errorf("a line is wider than %d: %q", size.W, line)
		}
		if cut := cutNumber.FindString(line) + overwritten.FindString(line); cut != "" {
			t.Errorf("at %s a number is cut (%s): %q", size, cut, line)
		}
	}
}

// CompareWithFile compares a text with a file. With -rewrite it writes the file.
func CompareWithFile(t *testing.T, path, text string) {
	t.Helper()
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -rewrite writes it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); diff != "" {
		t.Errorf("%s (-want +got); go test -rewrite rewrites it:\n%s", path, diff)
	}
}
