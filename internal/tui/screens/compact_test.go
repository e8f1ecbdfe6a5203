package screens_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/tuitest"
)

// drawn holds the characters of lines, bars, maps and charts.
const drawn = "─│┌┐└┘├█▓▒░▁▂▃▄▅▆▇·▸"

func startCompact(t *testing.T, world string, size tuitest.Size) *tui.App {
	t.Helper()
	app, err := tuitest.StartWithPreferences(t, screens.AllScreenSpecs(), world, size, tui.Settings{Theme: "dark", Colors: theme.NoColor, Compact: true})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

func TestCompactFramesContainNoDrawings(t *testing.T) {
	t.Parallel()
	for _, world := range []string{"normal", "few", "nodes5000", "various", "empty"} {
		for _, size := range tuitest.Sizes {
			app := startCompact(t, world, size)
			for _, keys := range []string{"1", "1 e", "1 t", "2", "2 g", "2 enter", "2 enter P", "2 enter l", "2 t", "2 c esc", "3", "3 t", "4", "4 H", "4 tab", "5", "2 x", "?", ":"} {
				for _, key := range strings.Fields(keys) {
					app.HandleKey(tuitest.NewKeyPress(key))
				}
				frame := app.Draw()
				tuitest.CheckFrame(t, frame, size)
				if at := strings.IndexAny(frame.Text(), drawn); at >= 0 {
					t.Errorf("%s, %v, keys %s: the frame contains drawings:\n%s", world, size, keys, frame.Text())
				}
				app.HandleKey(tuitest.NewKeyPress("esc"))
				app.HandleKey(tuitest.NewKeyPress("esc"))
			}
		}
	}
}

func TestTheTerminalsCursorIsOnTheSelectedRowOrInTheText(t *testing.T) {
	t.Parallel()
	app := startCompact(t, "normal", tuitest.Size{W: 60, H: 20})
	for _, step := range []struct{ keys, want string }{
		{"2", "> 931 "},
		{"down down", "> 918 "},
		{"end", "> 890 "},
		{"/ 9 1 3", " "}, // behind the text
		{"enter", "> 913 "},
		{"x", "Cancel job"},
		{"esc 3", "> root"},
		{"4 down tab", "> "},
		{"esc : j o b s", " "},
		{"esc", "> r06n02"},
	} {
		for _, key := range strings.Fields(step.keys) {
			app.HandleKey(tuitest.NewKeyPress(key))
		}
		frame := app.Draw()
		x, y, ok := frame.Cursor()
		var text strings.Builder
		for column := x; ok && column < frame.W; column++ {
			text.WriteRune(max(frame.At(column, y).Rune, ' '))
		}
		if !ok || !strings.HasPrefix(text.String(), step.want) {
			t.Errorf("after %q, the cursor is at %d, %d (%v), before %q; want %q:\n%s", step.keys, x, y, ok, text.String(), step.want, frame.Text())
		}
	}
}

func TestTheTimeDoesNotChangeACompactFrame(t *testing.T) {
	t.Parallel()
	app := startCompact(t, "empty", tuitest.Size{W: 60, H: 20})
	before := app.Draw().Text()
	app.SetCurrentTime(tuitest.Now.Add(5e9))
	if after := app.Draw().Text(); after != before {
		t.Errorf("the frame was\n%s\nand is after five seconds\n%s", before, after)
	}
}

func TestFramesOfCompactMode(t *testing.T) {
	t.Parallel()
	var frames strings.Builder
	for _, size := range []tuitest.Size{{W: 60, H: 15}, {W: 120, H: 40}} {
		app := startCompact(t, "normal", size)
		for _, key := range []string{"1", "2", "3", "4", "5"} {
			app.HandleKey(tuitest.NewKeyPress(key))
			fmt.Fprintf(&frames, "== %v, screen %s\n%s\n", size, key, strings.TrimRight(app.Draw().Text(), "\n"))
		}
	}
	tuitest.CompareWithFile(t, "testdata/compact.txt", frames.String())
}

func TestThePaletteSwitchesCompactMode(t *testing.T) {
	t.Parallel()
	app := tuitest.Start(t, screens.AllScreenSpecs(), "normal", tuitest.Size{W: 120, H: 40})
	boxed := app.Draw().Text()
	press := func() {
		for _, key := range []string{":", "c", "o", "m", "p", "a", "c", "t", "enter"} {
			app.HandleKey(tuitest.NewKeyPress(key))
		}
	}
	press()
	if text := app.Draw().Text(); strings.ContainsAny(text, drawn) {
		t.Errorf(":compact leaves\n%s", text)
	}
	press()
	if text := app.Draw().Text(); text != boxed {
		t.Errorf(":compact twice leaves\n%s", text)
	}
}
