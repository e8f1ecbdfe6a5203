package theme

import (
	"image/color"
	"math"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

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

// backgrounds lists the backgrounds on which the colours of each theme must be legible, besides that of the cursor row.
var backgrounds = map[string][]string{
	"dark": {"#000000", "#1e1e1e"}, "colorblind": {"#000000", "#1e1e1e"}, "high-contrast": {"#000000", "#1e1e1e"}, "light": {"#ffffff"},
}

// leastContrast is the contrast that WCAG 2 requires for text (level AA), and leastSignContrast the one for signs.
const (
	leastContrast     = 4.5
	leastSignContrast = 3
)

func TestRolesCanBeReadOnTheirBackground(t *testing.T) {
	t.Parallel()
	profiles := map[string]colorprofile.Profile{"true colour": colorprofile.TrueColor, "256 colours": colorprofile.ANSI256}
	for name, behind := range backgrounds {
		behind = append(slices.Clone(behind), palettes[name][Cursor].hex)
		for depth, profile := range profiles {
			least := map[canvas.Style]float64{}
			for role := range roles {
				l := palettes[name][role]
				isText := role != Border && (role < Heat0 || role > Heat4)
				if l.hex == "" || role == Cursor { // the cursor is a background
					continue
				}
				least[role] = math.Inf(1)
				for _, background := range behind {
					if background == palettes[name][Cursor].hex && !isText {
						continue
					}
					least[role] = min(least[role], contrast(profile.Convert(lipgloss.Color(l.hex)), profile.Convert(lipgloss.Color(background))))
				}
				if want := map[bool]float64{true: leastContrast, false: leastSignContrast}[isText]; least[role] < want {
					t.Errorf("%s, %s: role %d (%s) has a contrast of %.2f, want %.1f", name, depth, role, l.hex, least[role], want)
				}
			}
			t.Logf("%-14s %-12s running %.1f pending %.1f done %.1f failed %.1f suspended %.1f borrowed %.1f dim %.1f key %.1f mark %.1f", name, depth,
				least[Running], least[Pending], least[Done], least[Failed], least[Suspended], least[Borrowed], least[Dim], least[Key], least[Mark])
		}
	}
}

func TestFullNodeDoesNotLookFailed(t *testing.T) {
	t.Parallel()
	for name, roles := range palettes {
		full, failed := roles[Heat4], roles[Failed]
		if name != "mono" && (full.hex == failed.hex || full.few == failed.few) {
			t.Errorf("%s: a full node has the colour of a failed one: %+v and %+v", name, full, failed)
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
