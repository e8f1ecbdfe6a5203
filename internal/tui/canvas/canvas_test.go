package canvas

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

func TestWhatIsDrawn(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ascii bool
		draw  func(Canvas)
		want  string
	}{
		"text stands where it was put":           {draw: func(c Canvas) { c.Put(2, 1, "ab", 0) }, want: "\n  ab\n\n"},
		"text beyond the edge is cut":            {draw: func(c Canvas) { c.Put(6, 0, "abcdef", 0) }, want: "      ab\n\n\n"},
		"text before the edge is cut":            {draw: func(c Canvas) { c.Put(-2, 0, "abcd", 0) }, want: "cd\n\n\n"},
		"a wide rune takes two cells":            {draw: func(c Canvas) { c.Put(c.Put(0, 0, "训", 0), 0, "x", 0) }, want: "训x\n\n\n"},
		"half a wide rune is not shown":          {draw: func(c Canvas) { c.Put(7, 0, "训", 0); c.Put(-1, 1, "训x", 0) }, want: "\n x\n\n"},
		"what is left of a wide rune is a blank": {draw: func(c Canvas) { c.Put(0, 0, "训练", 0); c.Put(1, 0, "a", 0); c.Put(2, 0, "b", 0) }, want: " ab\n\n\n"},
		"control characters are left out":        {draw: func(c Canvas) { c.Put(0, 0, "a\x1b[2J\nb\tc\u200dd", 0) }, want: "a[2Jbcd\n\n\n"},
		"ASCII holds nothing else":               {ascii: true, draw: func(c Canvas) { c.Put(0, 0, "é训x", 0) }, want: "???x\n\n\n"},
		"what does not fit is marked":            {draw: func(c Canvas) { c.Fit(1, 0, 4, "abcdef", 0) }, want: " abc…\n\n\n"},
		"what does not fit is marked in ASCII":   {ascii: true, draw: func(c Canvas) { c.Fit(1, 0, 4, "abcdef", 0) }, want: " abc~\n\n\n"},
		"a number is not cut": {draw: func(c Canvas) {
			c.Fit(0, 0, 6, "gpu 1429", 0)
			c.Fit(0, 1, 4, "in 3.25", 0)
			c.Fit(0, 2, 5, "(12:30:05)", 0)
		}, want: "gpu…\nin…\n(…\n"},
		"a number before the cut looks whole": {draw: func(c Canvas) {
			c.Fit(0, 0, 6, "1429, 15", 0)
			c.Fit(0, 1, 6, "a 142 b", 0)
			c.Fit(0, 2, 6, "a 14  bc", 0)
		}, want: "1429 …\na…\na 14 …\n"},
		"a name is cut anywhere, an address at dots": {draw: func(c Canvas) { c.Fit(0, 0, 6, "job-1429", 0); c.Fit(0, 1, 8, "10.20.30.40", 0) }, want: "job-1…\n10.20.…\n\n"},
		"numbers stand at the right":                 {draw: func(c Canvas) { c.FitRight(1, 0, 5, "42", 0) }, want: "    42\n\n\n"},
		"a part cannot be left":                      {draw: func(c Canvas) { c.Sub(2, 1, 3, 1).Fill(-5, -5, 20, 20, '#', 0) }, want: "\n  ###\n\n"},
		"a part of a part is cut to both":            {draw: func(c Canvas) { c.Sub(2, 0, 3, 3).Sub(1, 1, 9, 9).Fill(0, 0, 9, 9, '#', 0) }, want: "\n   ##\n   ##\n"},
		"restyling leaves what stands there alone":   {draw: func(c Canvas) { c.Put(0, 0, "a", 1); c.Restyle(0, 0, 9, 9, func(Style) Style { return Bold }) }, want: "a\n\n\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := New(8, 3, tc.ascii)
			tc.draw(c)
			if got := c.Text(); got != tc.want {
				t.Errorf("drawn:\n%q\nwant:\n%q", got, tc.want)
			}
		})
	}
}

func TestStylesAreSwitchedOnAndOff(t *testing.T) {
	t.Parallel()
	c := New(4, 2, false)
	c.Put(0, 0, "ab", 1)
	c.Put(2, 0, "c", 2)
	open := func(s Style) string { return map[Style]string{1: "<1>", 2: "<2>"}[s] }
	if got, want := c.StyledText(open), "<1>ab\x1b[m<2>c\x1b[m \n    "; got != want {
		t.Errorf("styled %q, want %q", got, want)
	}
}

func TestNothingLeavesItsPlace(t *testing.T) {
	propertytest.Check(t, 500, func(t *rapid.T) {
		w, h := rapid.IntRange(0, 20).Draw(t, "w"), rapid.IntRange(0, 6).Draw(t, "h")
		c := New(w, h, rapid.Bool().Draw(t, "ascii"))
		runes := rapid.StringOf(rapid.RuneFrom([]rune("ab训é \t\x1b🚀\u0301█")))
		for range rapid.IntRange(0, 20).Draw(t, "draws") {
			x, y := rapid.IntRange(-5, 25).Draw(t, "x"), rapid.IntRange(-2, 8).Draw(t, "y")
			part := c.Sub(rapid.IntRange(-5, 25).Draw(t, "px"), rapid.IntRange(-2, 8).Draw(t, "py"), rapid.IntRange(-5, 25).Draw(t, "pw"), rapid.IntRange(-2, 8).Draw(t, "ph"))
			text := runes.Draw(t, "text")
			part.Put(x, y, text, Bold)
			part.Fit(x, y, rapid.IntRange(-2, 9).Draw(t, "fit"), text, 0)
			part.FitRight(x, y, rapid.IntRange(-2, 9).Draw(t, "right"), text, 0)
		}
		lines := strings.Split(strings.TrimSuffix(c.Text(), "\n"), "\n")
		if h > 0 && len(lines) != h {
			t.Fatalf("%d lines, want %d", len(lines), h)
		}
		for _, line := range lines {
			if Width(line) > w {
				t.Fatalf("line %q takes %d cells of %d", line, Width(line), w)
			}
		}
		for y := range h {
			for x := range w {
				wide := RuneWidth(c.At(x, y).Rune) == 2
				if wide != (c.At(x+1, y).Rune == Rest) {
					t.Fatalf("half a rune at %d,%d", x, y)
				}
			}
		}
	})
}

// Widths do not depend on the environment.
func TestWidthsDoNotDependOnTheLocale(t *testing.T) {
	for _, locale := range []string{"C", "en_US.UTF-8", "zh_CN.UTF-8", "ja_JP.UTF-8"} {
		t.Setenv("LANG", locale)
		t.Setenv("LC_ALL", locale)
		if got := Width("│█▓▒░·▸├─└…"); got != 11 {
			t.Errorf("in %s the glyphs take %d cells, want 11", locale, got)
		}
		if got := Width("训练"); got != 4 {
			t.Errorf("in %s two wide runes take %d cells, want 4", locale, got)
		}
	}
}

func TestACanvasThatIsDrawnOnAgainHoldsNothingOfBefore(t *testing.T) {
	t.Parallel()
	before := New(8, 3, false)
	before.Put(0, 0, "before", Bold)
	for _, size := range []struct {
		w, h  int
		ascii bool
	}{{8, 3, false}, {8, 3, true}, {9, 3, false}, {8, 4, false}, {0, 0, false}} {
		again, wanted := before.Sub(2, 0, 4, 1).ReuseCells(size.w, size.h, size.ascii), New(size.w, size.h, size.ascii)
		for _, c := range []Canvas{again, wanted} {
			c.Put(1, 1, "né", 0)
		}
		open := func(s Style) string { return strings.Repeat("x", int(s)) }
		if again.W != size.w || again.H != size.h || again.StyledText(open) != wanted.StyledText(open) {
			t.Errorf("%v: drawn again it is\n%q, wanted\n%q", size, again.StyledText(open), wanted.StyledText(open))
		}
	}
	if c := (Canvas{}).ReuseCells(2, 1, false); c.W != 2 || c.H != 1 {
		t.Errorf("in the place of none it has %dx%d cells", c.W, c.H)
	}
}
