package theme

import (
	"image/color"
	"math"
	"reflect"
	"regexp"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/vc-batch/vc/internal/tui/canvas"
)

func TestGlyphsTakeOneCell(t *testing.T) {
	t.Parallel()
	for _, ascii := range []bool{false, true} {
		value := reflect.ValueOf(newGlyphs(ascii))
		for i := range value.NumField() {
			var all []rune
			switch field := value.Field(i).Interface().(type) {
			case rune:
				all = []rune{field}
			case string:
				all = []rune(field)
			case []rune:
				all = field
			case [5]rune:
				all = field[:]
			}
			for _, r := range all {
				if canvas.RuneWidth(r) != 1 {
					t.Errorf("%s: %q takes %d cells", value.Type().Field(i).Name, r, canvas.RuneWidth(r))
				}
				if ascii && r > '~' {
					t.Errorf("%s: %q is not ASCII", value.Type().Field(i).Name, r)
				}
			}
		}
	}
}

func TestWithoutColoursThereIsNoColour(t *testing.T) {
	t.Parallel()
	colour := regexp.MustCompile(`\x1b\[[0-9;]*(3[0-9]|4[0-9]|9[0-9])`)
	for _, name := range Names() {
		look, err := New(name, NoColor, false)
		if err != nil {
			t.Fatal(err)
		}
		for role := range roles {
			if got := look.Open(role); colour.MatchString(got) {
				t.Errorf("%s: role %d is drawn with %q", name, role, got)
			}
		}
	}
}

// states are the roles that users must be able to distinguish.
var states = []canvas.Style{Running, Pending, Done, Failed, Suspended, Borrowed}

func TestStatesDifferInSixteenColours(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dark", "light", "high-contrast", "colorblind"} {
		few := map[string]canvas.Style{}
		for _, role := range states {
			l := palettes[name][role]
			if l.few == "" {
				t.Errorf("%s: role %d has none of the sixteen colours", name, role)
			}
			if other, ok := few[l.few]; ok {
				t.Errorf("%s: roles %d and %d are both colour %s", name, other, role, l.few)
			}
			few[l.few] = role
		}
	}
}

func TestRolesCanBeReadOnTheirBackground(t *testing.T) {
	t.Parallel()
	// WCAG 2 requires 4.5 for text (level AA), and 3 for large text and signs.
	for name, want := range map[string]struct {
		background color.Color
		least      float64
	}{
		"dark": {color.Black, 3}, "colorblind": {color.Black, 3}, "light": {color.White, 4.5}, "high-contrast": {color.Black, 7},
	} {
		for role := range roles {
			l := palettes[name][role]
			isSign := role == Border || role >= Heat0 && role <= Heat4
			if l.hex == "" || isSign || role == Cursor { // the cursor is a background
				continue
			}
			if got := contrast(lipgloss.Color(l.hex), want.background); got < want.least {
				t.Errorf("%s: role %d (%s) has a contrast of %.1f, want %.1f", name, role, l.hex, got, want.least)
			}
			if got := contrast(lipgloss.Color(l.hex), lipgloss.Color(palettes[name][Cursor].hex)); got < 3 {
				t.Errorf("%s: role %d (%s) has a contrast of %.1f in the row of the cursor, want 3", name, role, l.hex, got)
			}
		}
	}
}

// TestStatesDifferForEveryEye simulates colour blindness with the matrices of Viénot, Brettel and Mollon (1999) in
// linear light, and for tritanopia with those of Brettel's one plane. States whose colours are too similar must differ
// in bold or underlined.
func TestStatesDifferForEveryEye(t *testing.T) {
	t.Parallel()
	eyes := map[string][3][3]float64{
		"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
		"deuteranopia": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
		"tritanopia":   {{1.01277, 0.13548, -0.14826}, {-0.01243, 0.86812, 0.14431}, {0.07589, 0.80500, 0.11911}},
	}
	for _, name := range []string{"dark", "light", "high-contrast", "colorblind"} {
		for eye, m := range eyes {
			for i, a := range states {
				for _, b := range states[i+1:] {
					x, y := linear(lipgloss.Color(palettes[name][a].hex)), linear(lipgloss.Color(palettes[name][b].hex))
					far := 0.0
					for row := range 3 {
						d := 0.0
						for column := range 3 {
							d += m[row][column] * (x[column] - y[column])
						}
						far += d * d
					}
					drawn := func(role canvas.Style) [4]bool {
						l := palettes[name][role]
						return [4]bool{l.bold, l.faint, l.reverse, l.under}
					}
					if math.Sqrt(far) < 0.08 && drawn(a) == drawn(b) {
						t.Errorf("%s: with %s roles %d and %d lie %.3f apart in linear light", name, eye, a, b, math.Sqrt(far))
					}
				}
			}
		}
	}
}

func TestAnUnknownThemeIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := New("pink", TrueColor, false); err == nil {
		t.Error("a theme that is not there was made")
	}
}

func linear(c color.Color) [3]float64 {
	r, g, b, _ := c.RGBA()
	var out [3]float64
	for i, v := range []uint32{r, g, b} {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			out[i] = s / 12.92
		} else {
			out[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return out
}

// contrast returns the contrast ratio of WCAG 2.
func contrast(a, b color.Color) float64 {
	light := func(c color.Color) float64 {
		l := linear(c)
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] + 0.05
	}
	x, y := light(a), light(b)
	return max(x, y) / min(x, y)
}
