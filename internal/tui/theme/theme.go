package theme

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/vc-batch/vc/internal/tui/canvas"
)

// Theme defines the appearance of the dashboard. Themes are created by New and are immutable.
type Theme struct {
	Name   string
	Glyphs Glyphs
	open   [roles]lipgloss.Style
	mono   bool
	// codes caches the escape sequences that turn a style on, by role and attributes.
	codes [roles][32]string
	// selection is the background of the row under the cursor; nil if the row is reversed instead.
	selection color.Color
}

// Colors is the number of colours of a terminal.
type Colors int

// The supported numbers of colours.
const (
	NoColor Colors = iota
	Colors16
	Colors256
	TrueColor
)

// ColorsOfProfile converts a colour profile of the terminal library.
func ColorsOfProfile(profile colorprofile.Profile) Colors {
	switch profile {
	case colorprofile.ANSI:
		return Colors16
	case colorprofile.ANSI256:
		return Colors256
	case colorprofile.TrueColor:
		return TrueColor
	}
	return NoColor
}

// Names returns the names of all themes. The first theme depends on the terminal's background.
func Names() []string {
	return []string{"auto", "dark", "light", "mono", "high-contrast", "colorblind"}
}

// New returns the theme with the specified name; "auto" is the same as "dark". colors describes the terminal; without
// colours, every theme looks like mono. If the name is unknown, the error lists the known names.
func New(name string, colors Colors, ascii bool) (*Theme, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("unknown theme %q; themes: %s", name, strings.Join(Names(), ", "))
	}
	if name == "auto" {
		name = "dark"
	}
	if colors == NoColor {
		name = "mono"
	}
	return newTheme(name, palettes[name], colors, ascii), nil
}

// WithoutDrawings returns the same theme with blanks instead of lines, and without bars.
func (t *Theme) WithoutDrawings() *Theme {
	plain := *t
	plain.Glyphs = t.Glyphs.withoutDrawings()
	return &plain
}

func newTheme(name string, palette palette, colors Colors, ascii bool) *Theme {
	t := &Theme{Name: name, Glyphs: newGlyphs(ascii), mono: name == "mono"}
	for role := range t.open {
		t.open[role] = palette[canvas.Style(role)].styleFor(colors)
	}
	if background := palette[Cursor].hex; background != "" && colors >= Colors256 {
		t.selection = lipgloss.Color(background)
	}
	for role := range t.codes {
		for attributes := range t.codes[role] {
			t.codes[role][attributes] = t.escapeCode(canvas.Style(role) | canvas.Style(attributes)<<8)
		}
	}
	return t
}

// Open returns the escape sequence that turns a style on, or "" for the default look of the terminal.
func (t *Theme) Open(style canvas.Style) string {
	role := style.Role()
	if role >= roles {
		role = Plain
	}
	return t.codes[role][(style>>8)&31]
}

// LookOfStyle returns the look of a style, for output to something other than a terminal.
func (t *Theme) LookOfStyle(style canvas.Style) lipgloss.Style {
	role := style.Role()
	if role >= roles {
		role = Plain
	}
	look := t.open[role]
	switch selected := style.Has(canvas.Selected); {
	case selected && t.selection != nil:
		look = look.Background(t.selection)
	case selected: // with few colours, the whole row has the same two
		look = lipgloss.NewStyle().Bold(look.GetBold()).Underline(look.GetUnderline()).Reverse(true)
	}
	if style.Has(canvas.Bold) {
		look = look.Bold(true)
	}
	if style.Has(canvas.Faint) {
		look = look.Faint(true)
	}
	if style.Has(canvas.Reverse) {
		look = look.Reverse(true)
	}
	if style.Has(canvas.Underline) {
		look = look.Underline(true)
	}
	return look
}

func (t *Theme) escapeCode(style canvas.Style) string {
	open, _, _ := strings.Cut(t.LookOfStyle(style).UnderlineSpaces(false).Render("x"), "x")
	return open
}
