package tuitest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/theme"
)

var rewrite = flag.Bool("rewrite", false, "write the goldens and scripts anew")

// Size is the size of a terminal.
type Size struct{ W, H int }

// Sizes are those that goldens are taken at.
var Sizes = []Size{{160, 50}, {120, 40}, {80, 24}, {60, 15}}

// look is how a golden is drawn.
type look struct {
	name   string
	colors theme.Colors
	ascii  bool
}

var looks = []look{{"mono", theme.NoColor, false}, {"colour", theme.TrueColor, false}, {"ascii", theme.NoColor, true}}

// Start returns a dashboard of a world in a terminal of a size; in colour, not in ASCII.
func Start(t testing.TB, specs []screen.Spec, world string, size Size) *tui.App {
	t.Helper()
	return start(t, specs, world, size, look{"", theme.TrueColor, false})
}

func start(t testing.TB, specs []screen.Spec, world string, size Size, l look) *tui.App {
	t.Helper()
	app, err := tui.New(tui.Settings{Specs: specs, Theme: "dark", Colors: l.colors, ASCII: l.ascii, User: "mei", Own: "nlp", Program: "vcctl", Actions: &Recorder{}, Now: Now})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := World(world)
	if err != nil {
		t.Fatal(err)
	}
	app.Resize(size.W, size.H)
	app.SetSnapshot(snap)
	return app
}

// Keys is an open of Frames that presses keys.
func Keys(names ...string) func(*tui.App) {
	return func(app *tui.App) {
		for _, name := range names {
			app.Key(Press(name))
			app.Take()
			app.Draw()
		}
	}
}

// Frames compares the frames of a screen in all sizes, looks and worlds with the files
// testdata/<name>-<size>.txt. open brings a fresh dashboard to the screen; nil leaves it
// on its first one. Worlds are those of Worlds when none is named.
//
// A file has each frame three times: plain, then in colour and in ASCII; a line of
// these that is as in the plain one is written as "=", and one that is as in the frame
// of the first world, drawn the same way, as "^".
func Frames(t *testing.T, name string, specs []screen.Spec, open func(*tui.App), worlds ...string) {
	t.Helper()
	if len(worlds) == 0 {
		worlds = Worlds()
	}
	for _, size := range Sizes {
		t.Run(fmt.Sprintf("%dx%d", size.W, size.H), func(t *testing.T) {
			var text strings.Builder
			first := map[string][]string{}
			for _, world := range worlds {
				var plain []string
				for _, l := range looks {
					app := start(t, specs, world, size, l)
					if open != nil {
						open(app)
					}
					frame := app.Draw()
					Check(t, frame, size)
					fmt.Fprintf(&text, "== %s, %s\n", world, l.name)
					lines := strings.Split(strings.TrimSuffix(frame.Text(), "\n"), "\n")
					if l.name == "colour" {
						lines = coloured(frame, app.Context().Theme)
					}
					for i, line := range lines {
						switch {
						case line == "":
						case plain != nil && line == plain[i]:
							line = "="
						case first[l.name] != nil && line == first[l.name][i]:
							line = "^"
						}
						text.WriteString(line + "\n")
					}
					if first[l.name] == nil {
						first[l.name] = lines
					}
					if plain == nil {
						plain = lines
					}
				}
			}
			Compare(t, filepath.Join("testdata", fmt.Sprintf("%s-%dx%d.txt", name, size.W, size.H)), text.String())
		})
	}
}

// coloured are the lines of a frame with escapes, without blanks at their ends.
func coloured(frame canvas.Canvas, look *theme.Theme) []string {
	lines := strings.Split(frame.Styled(look.Open), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// Check holds what is true of every frame: its size.
func Check(t testing.TB, frame canvas.Canvas, size Size) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(frame.Text(), "\n"), "\n")
	if len(lines) != size.H && size.H > 0 {
		t.Errorf("a frame of %dx%d has %d lines", size.W, size.H, len(lines))
	}
	for _, line := range lines {
		if canvas.Width(line) > size.W {
			t.Errorf("a line is wider than %d: %q", size.W, line)
		}
	}
}

// Compare compares a text with a file, or writes it with -rewrite.
func Compare(t *testing.T, path, text string) {
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
		t.Errorf("%s (-want +got); go test -rewrite writes it anew:\n%s", path, diff)
	}
}
