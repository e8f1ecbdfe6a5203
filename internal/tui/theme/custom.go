package theme

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/tui/canvas"
)

// Custom is a theme from the settings file: another theme with some colours replaced.
type Custom struct {
	// Base is the name of a theme of this package; it defaults to dark.
	Base string `yaml:"base"`
	// Colors maps the name of a role, see RoleNames, to a colour: #rrggbb, or the number of one of the 256 colours of
	// terminals.
	Colors map[string]string `yaml:"colors"`
}

// namedRoles maps the names for the settings file to the roles.
var namedRoles = map[string]canvas.Style{
	"dim": Dim, "title": Title, "tab": Tab, "key": Key, "border": Border, "head": Head, "cursor": Cursor, "mark": Mark,
	"running": Running, "pending": Pending, "done": Done, "failed": Failed, "suspended": Suspended, "borrowed": Borrowed,
	"good": Good, "warn": Warn, "error": Error,
	"heat0": Heat0, "heat1": Heat1, "heat2": Heat2, "heat3": Heat3, "heat4": Heat4,
	"log0": Log0, "log1": Log1, "log2": Log2, "log3": Log3, "log4": Log4, "log5": Log5, "log6": Log6, "log7": Log7,
}

// RoleNames returns the names of all roles whose colour can be replaced, in alphabetical order.
func RoleNames() []string { return slices.Sorted(maps.Keys(namedRoles)) }

var colorPattern = regexp.MustCompile(`^(#[0-9a-fA-F]{6}|25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$`)

// Check returns the name of the first invalid field, such as base or colors.running, and the reason. field is empty if
// the theme is valid.
func (c *Custom) Check() (field, reason string) {
	if c.Base != "" && palettes[c.Base] == nil {
		return "base", fmt.Sprintf("unknown theme %q; themes: %s", c.Base, strings.Join(Names()[1:], ", "))
	}
	for _, role := range slices.Sorted(maps.Keys(c.Colors)) {
		if _, ok := namedRoles[role]; !ok {
			return "colors." + role, fmt.Sprintf("unknown role %q; roles: %s", role, strings.Join(RoleNames(), ", "))
		}
		if !colorPattern.MatchString(c.Colors[role]) {
			return "colors." + role, fmt.Sprintf("%q is not a colour; use #rrggbb or a number from 0 to 255", c.Colors[role])
		}
	}
	return "", ""
}

// New returns the theme for a terminal. Check must have accepted it.
func (c *Custom) New(name string, colors Colors, ascii bool) *Theme {
	base := c.Base
	if base == "" {
		base = "dark"
	}
	own := maps.Clone(palettes[base])
	for role, text := range c.Colors {
		how := own[namedRoles[role]]
		how.hex, how.few = text, text
		own[namedRoles[role]] = how
	}
	if colors == NoColor {
		return newTheme("mono", palettes["mono"], colors, ascii)
	}
	return newTheme(name, own, colors, ascii)
}
